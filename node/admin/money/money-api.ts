import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { amount, list, view } from '../../http/schemas.ts'

/** What the admin API takes and gives of money; as in `api.ts`. */

export const withdrawSchema = z.strictObject({
  amount,
  to: z.string(),
  id: z.string().describe("Of the client's own making: the same again sends nothing twice.")
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
    .describe('Milliseconds since the epoch: from, and up to but not at.'),
  until: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX),
  cursor: z.string().optional()
})
export type ReceiptsInput = z.input<typeof receiptsSchema>

export const booksSchema = z.strictObject({
  book: z
    .enum(['node', 'accounts'])
    .default('node')
    .describe("`accounts`: the book of prepaid accounts, which is the node's own where no other store is shared."),
  after: z.coerce.number().int().min(0).default(0).describe('Entries after the one with this number.'),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX)
})

export const payoutSchema = z.strictObject({ address: z.string() })

export const channelViewSchema = view(
  'ChannelView',
  {
    role: z.enum(['payer', 'owner']),
    channel: z.string(),
    peer: z.string().nullable().describe('Peer id of the other side; null for a client of x402, which has no node.'),
    receiver: z.string().describe("The provider's splitter."),
    state: z.string(),
    disputed: z.boolean(),
    deposit: z
      .string()
      .describe(
        'What it holds; what may be claimed of it by the highest voucher; what calls have cost; set aside for calls under way.'
      ),
    ceiling: z.string(),
    spent: z.string(),
    reserved: z.string(),
    claimed: z
      .string()
      .nullable()
      .describe('Claimed by the owner; given back in the end. Null where it is not known, or not so far.'),
    returned: z.string().nullable(),
    withdrawable_at: z
      .number()
      .nullable()
      .describe('Milliseconds since the epoch: when a withdrawal can be finished. Null where none was begun.')
  },
  'A channel as this node has it on its side.'
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
  'Each channel as it is then, and what kept it from being closed.'
)
export type ClosedChannelsView = z.output<typeof closedChannelsViewSchema>

export const walletViewSchema = view('WalletView', {
  address: z.string(),
  network: z.string(),
  money: z.string().describe('What its money is called there.'),
  balance: z
    .string()
    .describe('At the head of the chain, and as nothing takes it back. What is in channels is not in it.'),
  balance_final: z.string(),
  gas: z.string().describe('For gas, in ETH.'),
  held: z
    .string()
    .nullable()
    .describe(
      "What the prepaid accounts of this node's ingress hold, and the wallet has to have; null where no node was asked."
    )
})
export type WalletView = z.output<typeof walletViewSchema>

export const withdrawalViewSchema = view('WithdrawalView', {
  amount: z.string(),
  to: z.string(),
  transaction: z.string().describe('Hash, mined.')
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
    payout: z.string().nullable().describe('Null where it was never named here.'),
    splitter: z.string(),
    gross: z
      .string()
      .describe("What calls were charged, less what was written off; the treasury's 5% of it; and the rest."),
    fee: z.string(),
    net: z.string(),
    direct: z
      .string()
      .describe('Came to the splitter for no call of this node, and by other nodes that serve the same provider.'),
    others: z.string(),
    written_off: z.string().describe('Charged, and not to be collected any more.'),
    captured: z.string().describe('In channels; claimed, but not for good yet; claimed; in the splitter; paid out.'),
    claiming: z.string(),
    claimed: z.string(),
    waiting: z.string(),
    paid_provider: z.string(),
    paid_treasury: z.string(),
    transactions: list(transactionViewSchema)
  },
  'What calls of one provider brought. `captured` to `paid_treasury` say where it is.'
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
    .describe("The last final block that the books know, and the chain's time of it; null before the first look."),
  stale: z.boolean().describe('The chain did not answer just now.'),
  claims: list(transactionViewSchema),
  gas: z.object({
    transactions: z.number(),
    cost: z.string()
  })
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
    rule: z.string().nullable().describe('By what rule; null where an earlier version charged.'),
    status: z.number(),
    at: z.number(),
    signature: z.string().describe('At the payer `valid`, `invalid`, or `unknown`; at the owner `own`.'),
    proof: z.string().nullable().describe('At the payer: what proves it, in base64.')
  },
  'A call that was charged.'
)
export type ReceiptView = z.output<typeof receiptViewSchema>

export const receiptsViewSchema = view(
  'ReceiptsView',
  {
    money: z.string(),
    receipts: list(receiptViewSchema),
    next: z.string().nullable()
  },
  'Newest first. A page may be short although there is a next one.'
)
export type ReceiptsView = z.output<typeof receiptsViewSchema>

export const postingViewSchema = view(
  'PostingView',
  {
    account: z.string(),
    amount: z.string().describe('Above zero for a debit, below for a credit.')
  },
  'One side of an entry of the ledger.'
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
      'What entries that were deleted for their age summed to, by account: the balance is this and all entries. On the first page only.'
    ),
    entries: list(bookEntryViewSchema),
    next: z.number().nullable().describe('`after` of the next page; null where there is none.')
  },
  'Oldest first.'
)
export type BooksView = z.output<typeof booksViewSchema>

export const settlementViewSchema = view(
  'SettlementView',
  {
    claimed: z.string().describe('From channels; from there to splitters; from there to both sides.'),
    settled: z.string(),
    distributed: z.string(),
    transactions: list(z.string()).describe('Hashes, mined.'),
    refused: list(
      z.object({
        channel: z.string(),
        reason: z.string()
      })
    ).describe('Claims that the chain refuses; everything else went without them.')
  },
  'What a round of fetching money did.'
)
export type SettlementView = z.output<typeof settlementViewSchema>
