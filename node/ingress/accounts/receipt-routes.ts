import { formatUsdc, limits } from '../../../lib/index.ts'
import type { ReceiptRow } from '../../../lib/interface/index.ts'
import type { AccountEntry } from '../../accounts/accounts.ts'
import type { RequestParts } from '../account-request.ts'
import { pageQuery } from '../parameters.ts'
import { routesWith } from '../route.ts'
import { page, receiptSchema } from '../views.ts'

export interface ReceiptContext extends RequestParts {
  /** The receipt that the API’s provider signed for a call. Undefined if this node did not make the call, or moves no money. */
  readonly receipt: (requestId: string) => Promise<ReceiptRow | undefined>
}

const route = routesWith<ReceiptContext>()

/** Only the node that made a call has its receipt. */
export const receiptRoutes = [
  route({
    method: 'GET',
    path: '/v1/receipts',
    summary: 'The receipt of a charged call, as the provider signed it.',
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
