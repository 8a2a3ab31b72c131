import { formatUsdc, limits } from '../../../lib/index.ts'
import type { ReceiptRow } from '../../../lib/interface/index.ts'
import type { AccountEntry } from '../../accounts/accounts.ts'
import type { RequestParts } from '../account-request.ts'
import { pageQuery } from '../parameters.ts'
import { routesWith } from '../route.ts'
import { page, receiptSchema } from '../views.ts'

export interface ReceiptContext extends RequestParts {
  /** What the API's owner signed of a call. Undefined where this node made no such call, or moves no money. */
  readonly receipt: (requestId: string) => Promise<ReceiptRow | undefined>
}

const route = routesWith<ReceiptContext>()

/** Receipts are known to the node that made the call. */
export const receiptRoutes = [
  route({
    method: 'GET',
    path: '/v1/receipts',
    summary: 'What the account was charged for, with what the owners signed.',
    auth: 'manager',
    query: pageQuery,
    response: page(receiptSchema),
    async handler({ accounts, receipt }, { caller, query: { limit = limits.PAGE_MAX, cursor = 0 } }) {
      const charges = await accounts.entries(caller.account.id, { after: cursor, limit, kinds: ['charge'] })
      const data = []
      for (const charge of charges) data.push(view(charge, await receipt(charge.reference)))
      const last = charges.length === limit ? charges.at(-1) : undefined
      return { data, next_cursor: last === undefined ? null : String(last.seq) }
    }
  })
] as const

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
