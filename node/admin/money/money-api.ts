import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { DISPUTE_STATES } from '../../../lib/interface/index.ts'
import { amountAbove0, list, peerId, view } from '../../http/schemas.ts'

/** Inputs and responses of the money routes. `api.ts` states the units. */

export const withdrawSchema = z.strictObject({
  amount: amountAbove0,
  to: z.string(),
  id: z.string().describe('Chosen by the client. A repeat with the same id sends nothing more.')
})
export type WithdrawInput = z.input<typeof withdrawSchema>

export const receiptsSchema = z.strictObject({
  role: z.enum(['payer', 'owner']),
  api: z.string().optional(),
  since: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Milliseconds since the epoch: `since` is inclusive, `until` is exclusive.'),
  until: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX),
  cursor: z.string().optional()
})
export type ReceiptsInput = z.input<typeof receiptsSchema>

export const booksSchema = z.strictObject({
  book: z
    .enum(['node', 'accounts'])
    .default('node')
    .describe("`accounts`: the ledger of prepaid accounts. Without a shared store it is the node's own ledger."),
  after: z.coerce.number().int().min(0).default(0).describe('Return entries after this sequence number.'),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX)
})

export const payoutSchema = z.strictObject({ address: z.string() })

export const openChannelSchema = z.strictObject({ api: z.string().describe('`name`, or `name@provider`.') })

export const channelViewSchema = view(
  'ChannelView',
  {
    role: z.enum(['payer', 'owner']),
    channel: z.string(),
    peer: z.string().nullable().describe('Peer id of the other side; null for an x402 client, because it has no node.'),
    receiver: z.string().describe("The provider's splitter."),
    state: z.string(),
    disputed: z.boolean(),
    deposit: z
      .string()
      .describe(
        '`deposit`: amount in the channel. `ceiling`: amount of the highest voucher. `spent`: cost of all calls. `reserved`: for running calls.'
      ),
    ceiling: z.string(),
    spent: z.string(),
    reserved: z.string(),
    disputed_amount: z.string().describe('At the payer: charges without a valid receipt. Not part of `spent`.'),
    claimed: z
      .string()
      .nullable()
      .describe(
        '`claimed`: claimed by the owner. `returned`: paid back to the payer at the close. Null if unknown or not done yet.'
      ),
    returned: z.string().nullable(),
    withdrawable_at: z
      .number()
      .nullable()
      .describe('When a withdrawal can be completed, in milliseconds since the epoch. Null if none was started.')
  },
  "A channel in this node's records."
)
export type ChannelView = z.output<typeof channelViewSchema>

export const closedChannelsViewSchema = view(
  'ClosedChannelsView',
  {
    channels: list(
      z.object({
        channel: channelViewSchema,
        problem: z.string().nullable()
      })
    )
  },
  'Each channel after the attempt, and the error if it could not be closed.'
)
export type ClosedChannelsView = z.output<typeof closedChannelsViewSchema>

export const takeBackSchema = z.strictObject({ peer: peerId.describe('Peer id of the payer.') })

export const disputeViewSchema = view(
  'DisputeView',
  {
    role: z.enum(['payer', 'owner']),
    request_id: z.string(),
    api: z.string(),
    peer: z.string(),
    channel: z.string(),
    amount: z.string(),
    fault: z
      .string()
      .describe(
        'What is wrong with the receipt: `missing`, `malformed`, `request`, `price`, `rule`, `time` or `signature`.'
      ),
    state: z.enum(DISPUTE_STATES),
    at: z.number()
  },
  'A charge without a valid receipt. At the owner, `proved` means that a receipt was sent.'
)
export type DisputeView = z.output<typeof disputeViewSchema>

export const disputesViewSchema = view('DisputesView', { disputes: list(disputeViewSchema) }, 'Newest first.')

export const walletViewSchema = view('WalletView', {
  address: z.string(),
  network: z.string(),
  money: z.string().describe('Name of the currency on this network.'),
  balance: z
    .string()
    .describe(
      '`balance`: at the head of the chain. `balance_final`: at the last final block. Neither includes channel deposits.'
    ),
  balance_final: z.string(),
  gas: z.string().describe('ETH for gas.'),
  held: z
    .string()
    .nullable()
    .describe(
      "Total of the prepaid accounts of this node's ingress, which the wallet must cover. Null if the node was not running."
    )
})
export type WalletView = z.output<typeof walletViewSchema>

export const withdrawalViewSchema = view('WithdrawalView', {
  amount: z.string(),
  to: z.string(),
  transaction: z.string().describe('Hash of the mined transaction.')
})
export type WithdrawalView = z.output<typeof withdrawalViewSchema>

export const transactionViewSchema = view(
  'TransactionView',
  {
    what: z.string(),
    hash: z.string(),
    block: z.string(),
    succeeded: z.boolean(),
    cost: z.string().describe('In ETH.')
  },
  'A final transaction of this node.'
)
export type TransactionView = z.output<typeof transactionViewSchema>

export const providerEarningsViewSchema = view(
  'ProviderEarningsView',
  {
    payout: z.string().nullable().describe('Null if it was never set on this node.'),
    splitter: z.string(),
    gross: z
      .string()
      .describe("`gross`: charges of calls, less write-offs. `fee`: the treasury's 5% of it. `net`: the rest."),
    fee: z.string(),
    net: z.string(),
    direct: z
      .string()
      .describe(
        'Paid to the splitter: `direct` without a call, `others` through other nodes that serve this provider.'
      ),
    others: z.string(),
    written_off: z.string().describe('Charged, but no longer collectable.'),
    captured: z
      .string()
      .describe(
        '`captured`: in channels. `claiming`: claimed, not final. `claimed`: claimed, final. `waiting`: in the splitter. `paid_…`: paid out.'
      ),
    claiming: z.string(),
    claimed: z.string(),
    waiting: z.string(),
    paid_provider: z.string(),
    paid_treasury: z.string(),
    transactions: list(transactionViewSchema)
  },
  'Earnings of one provider. `captured` to `paid_treasury` say where the money is.'
)
export type ProviderEarningsView = z.output<typeof providerEarningsViewSchema>

export const earningsViewSchema = view('EarningsView', {
  money: z.string(),
  providers: list(providerEarningsViewSchema),
  as_of: z
    .object({
      block: z.string(),
      at: z.number()
    })
    .nullable()
    .describe('The last final block in the ledger, and its block time. Null before the first read of the chain.'),
  stale: z.boolean().describe('True if the chain did not respond to the last request.'),
  claims: list(transactionViewSchema),
  gas: z.object({
    transactions: z.number(),
    cost: z.string()
  }),
  credit: z
    .object({
      used: z.string(),
      max: z.string()
    })
    .describe(
      'Served before first deposits are mined. `used`: deposits in progress, and what was lost in the last hour, with gas. `max`: the most, 0 if this node gives no credit.'
    )
})
export type EarningsView = z.output<typeof earningsViewSchema>

export const receiptViewSchema = view(
  'ReceiptView',
  {
    role: z.enum(['payer', 'owner']),
    request_id: z.string(),
    api: z.string(),
    peer: z.string().nullable(),
    channel: z.string().nullable(),
    charged: z.string(),
    rule: z.string().nullable().describe('Charging rule; null if an earlier version made the charge.'),
    status: z.number(),
    at: z.number().describe('At the payer: when it made the call. At the owner: when the call ended.'),
    signature: z.string().describe('`valid`, `invalid` or `unknown` at the payer; `own` at the owner.'),
    proof: z.string().nullable().describe('The proof in base64, at the payer only.'),
    channel_config: z
      .object({
        chain_id: z.number(),
        contract: z.string(),
        payer: z.string(),
        payerAuthorizer: z.string(),
        receiver: z.string(),
        receiverAuthorizer: z.string(),
        token: z.string(),
        withdrawDelay: z.number(),
        salt: z.string()
      })
      .nullable()
      .describe('The channel, at the payer only. With `proof`, anybody can check the receipt: `souk receipts verify`.')
  },
  'A charged call.'
)
export type ReceiptView = z.output<typeof receiptViewSchema>

export const receiptsViewSchema = view(
  'ReceiptsView',
  {
    money: z.string(),
    receipts: list(receiptViewSchema),
    next: z.string().nullable()
  },
  'Newest first. A short page is not always the last; see `next`.'
)
export type ReceiptsView = z.output<typeof receiptsViewSchema>

export const postingViewSchema = view(
  'PostingView',
  {
    account: z.string(),
    amount: z.string().describe('Positive for a debit, negative for a credit.')
  },
  'One posting of a ledger entry.'
)
export type PostingView = z.output<typeof postingViewSchema>

export const bookEntryViewSchema = view('BookEntryView', {
  seq: z.number(),
  kind: z.string(),
  reference: z.string(),
  at: z.number(),
  postings: list(postingViewSchema)
})
export type BookEntryView = z.output<typeof bookEntryViewSchema>

export const booksViewSchema = view(
  'BooksView',
  {
    carried: list(postingViewSchema).describe(
      'Sums of expired entries by account, on the first page only. A balance is this sum plus all entries.'
    ),
    entries: list(bookEntryViewSchema),
    next: z.number().nullable().describe('`after` of the next page; null on the last page.')
  },
  'Oldest first.'
)
export type BooksView = z.output<typeof booksViewSchema>

export const settlementViewSchema = view(
  'SettlementView',
  {
    claimed: z
      .string()
      .describe(
        '`claimed`: claimed in channels. `settled`: moved to splitters. `distributed`: paid to provider and treasury.'
      ),
    settled: z.string(),
    distributed: z.string(),
    transactions: list(z.string()).describe('Hashes of mined transactions.'),
    refused: list(
      z.object({
        channel: z.string(),
        reason: z.string()
      })
    ).describe('Claims that the contract rejected. All other claims were sent without them.'),
    withheld: list(
      z.object({
        to: z.string(),
        amount: z.string(),
        reason: z.string()
      })
    ).describe('Amounts that the token refuses to send, and its reason. They stay where they are until it allows it.')
  },
  'Result of one settlement run.'
)
export type SettlementView = z.output<typeof settlementViewSchema>
