import { z } from 'zod'
import { limits } from '../../lib/index.ts'
import { amount } from './api.ts'

/** What the admin API takes and gives of money; as in `api.ts`. */

/** `POST /wallet/withdrawals` */
export const withdrawSchema = z.strictObject({
  amount,
  to: z.string(),
  /** Of the client's own making: the same again sends nothing twice. */
  id: z.string()
})
export type WithdrawInput = z.input<typeof withdrawSchema>

/** `GET /receipts` */
export const receiptsSchema = z.strictObject({
  role: z.enum(['payer', 'owner']),
  api: z.string().optional(),
  /** Milliseconds since the epoch: from, and up to but not at. */
  since: z.coerce.number().int().min(0).optional(),
  until: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX),
  cursor: z.string().optional()
})
export type ReceiptsInput = z.input<typeof receiptsSchema>

/** `GET /books` */
export const booksSchema = z.strictObject({
  /** `accounts`: the book of prepaid accounts, which is the node's own where no other store is shared. */
  book: z.enum(['node', 'accounts']).default('node'),
  /** Entries after the one with this number. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(limits.RECEIPTS_PAGE_MAX).default(limits.RECEIPTS_PAGE_MAX)
})
export type BooksInput = z.input<typeof booksSchema>

/** `PUT /payout` */
export const payoutSchema = z.strictObject({ address: z.string() })

/** A channel as this node has it on its side. */
export interface ChannelView {
  readonly role: 'payer' | 'owner'
  readonly channel: string
  /** Peer id of the other side; null for a client of x402, which has no node. */
  readonly peer: string | null
  /** The provider's splitter. */
  readonly receiver: string
  readonly state: string
  readonly disputed: boolean
  /** What it holds; what may be claimed of it by the highest voucher; what calls have cost; set aside for calls under way. */
  readonly deposit: string
  readonly ceiling: string
  readonly spent: string
  readonly reserved: string
  /** Claimed by the owner; given back in the end. Null where it is not known, or not so far. */
  readonly claimed: string | null
  readonly returned: string | null
  /** Milliseconds since the epoch: when a withdrawal can be finished. Null where none was begun. */
  readonly withdrawable_at: number | null
}

/** `POST /channels/close`: each channel as it is then, and what kept it from being closed. */
export interface ClosedChannelsView {
  readonly channels: ReadonlyArray<{ readonly channel: ChannelView; readonly problem: string | null }>
}

/** `GET /wallet` */
export interface WalletView {
  readonly address: string
  readonly network: string
  /** What its money is called there. */
  readonly money: string
  /** At the head of the chain, and as nothing takes it back. What is in channels is not in it. */
  readonly balance: string
  readonly balance_final: string
  /** For gas, in ETH. */
  readonly gas: string
  /** What the prepaid accounts of this node's ingress hold, and the wallet has to have; null where no node was asked. */
  readonly held: string | null
}

export interface WithdrawalView {
  readonly amount: string
  readonly to: string
  /** Hash, mined. */
  readonly transaction: string
}

/** A final transaction of this node. */
export interface TransactionView {
  readonly what: string
  readonly hash: string
  readonly block: string
  readonly succeeded: boolean
  /** In ETH. */
  readonly cost: string
}

/** What calls of one provider brought. `captured` to `paid_treasury` say where it is. */
export interface ProviderEarningsView {
  /** Null where it was never named here. */
  readonly payout: string | null
  readonly splitter: string
  /** What calls were charged, less what was written off; the treasury's 5% of it; and the rest. */
  readonly gross: string
  readonly fee: string
  readonly net: string
  /** Came to the splitter for no call of this node, and by other nodes that serve the same provider. */
  readonly direct: string
  readonly others: string
  /** Charged, and not to be collected any more. */
  readonly written_off: string
  /** In channels; claimed, but not for good yet; claimed; in the splitter; paid out. */
  readonly captured: string
  readonly claiming: string
  readonly claimed: string
  readonly waiting: string
  readonly paid_provider: string
  readonly paid_treasury: string
  readonly transactions: readonly TransactionView[]
}

/** `GET /earnings` */
export interface EarningsView {
  readonly money: string
  readonly providers: readonly ProviderEarningsView[]
  /** The last final block that the books know, and the chain's time of it; null before the first look. */
  readonly as_of: { readonly block: string; readonly at: number } | null
  /** The chain did not answer just now. */
  readonly stale: boolean
  readonly claims: readonly TransactionView[]
  readonly gas: { readonly transactions: number; readonly cost: string }
}

/** A call that was charged. */
export interface ReceiptView {
  readonly role: 'payer' | 'owner'
  readonly request_id: string
  readonly api: string
  readonly peer: string | null
  readonly channel: string | null
  readonly charged: string
  /** By what rule; null where an earlier version charged. */
  readonly rule: string | null
  readonly status: number
  readonly at: number
  /** At the payer `valid`, `invalid`, or `unknown`; at the owner `own`. */
  readonly signature: string
  /** At the payer: what proves it, in base64. */
  readonly proof: string | null
}

/** Newest first. A page may be short although there is a next one. */
export interface ReceiptsView {
  readonly money: string
  readonly receipts: readonly ReceiptView[]
  readonly next: string | null
}

/** One side of an entry of the ledger. */
export interface PostingView {
  readonly account: string
  /** Above zero for a debit, below for a credit. */
  readonly amount: string
}

export interface BookEntryView {
  readonly seq: number
  readonly kind: string
  readonly reference: string
  readonly at: number
  readonly postings: readonly PostingView[]
}

/** Oldest first. */
export interface BooksView {
  /** What entries that were deleted for their age summed to, by account: the balance is this and all entries. On the first page only. */
  readonly carried: readonly PostingView[]
  readonly entries: readonly BookEntryView[]
  /** `after` of the next page; null where there is none. */
  readonly next: number | null
}

/** `POST /settlements`: what a round of fetching money did. */
export interface SettlementView {
  /** From channels; from there to splitters; from there to both sides. */
  readonly claimed: string
  readonly settled: string
  readonly distributed: string
  /** Hashes, mined. */
  readonly transactions: readonly string[]
  /** Claims that the chain refuses; everything else went without them. */
  readonly refused: ReadonlyArray<{ readonly channel: string; readonly reason: string }>
}
