import type { FastifyInstance } from 'fastify'
import { formatUsdc } from '../../lib/index.ts'
import type { ReceiptRow } from '../../lib/interface/index.ts'
import type { AccountEntry, Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../keys/keys.ts'
import { managedAccountOf, readPage } from './account-routes.ts'

export interface ReceiptRoutesInit {
  readonly accounts: Accounts
  readonly keys: Pick<Keys, 'verify'>
  /** What the API's owner signed of a call. Undefined where this node made no such call, or moves no money. */
  readonly receipt: (requestId: string) => Promise<ReceiptRow | undefined>
}

/**
 * `GET /v1/receipts`: what an account was charged for, oldest first, page by page with `limit` and `cursor`; each with the receipt that
 * the API's owner signed, as far as the node that is asked has it: the one that made the call.
 */
export function addReceiptRoutes(app: FastifyInstance, init: ReceiptRoutesInit): void {
  const { accounts, receipt } = init
  app.get('/v1/receipts', async (request) => {
    const [{ id }] = await managedAccountOf(init, request)
    const { limit, after } = readPage(request)
    const charges = await accounts.entries(id, { after, limit, kinds: ['charge'] })
    const data = []
    for (const charge of charges) data.push(view(charge, await receipt(charge.reference)))
    const last = charges.length === limit ? charges.at(-1) : undefined
    return { data, next_cursor: last === undefined ? null : String(last.seq) }
  })
}

function view({ reference, at, amount }: AccountEntry, row: ReceiptRow | undefined) {
  return {
    request_id: reference,
    at: new Date(at).toISOString(),
    charged: formatUsdc(-amount),
    api: row?.api ?? null,
    owner: row?.peer ?? null,
    status: row?.status ?? null,
    signature: row?.signature ?? null,
    proof: row?.proof === undefined ? null : Buffer.from(row.proof).toString('base64')
  }
}
