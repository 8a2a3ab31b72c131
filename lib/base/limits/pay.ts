/** Limits: Payments and channels. */
import { UPSTREAM_TIMEOUT_MS_MAX } from './call.ts'
import { REQUEST_AGE_MS_MAX, REQUEST_ID_AHEAD_MS } from './store.ts'
import { KiB, SECOND, MINUTE, HOUR, DAY, USDC } from './units.ts'

/** The largest lease of a daily cap is this part of it. A killed process loses one lease at most. */
export const CAP_LEASES = 10n
/** The first lease of a process is this part of a daily cap: a thousand kills a day waste it. */
export const CAP_LEASE_FIRST_PART = 1_000n
/** Delay of a payer's asynchronous writes. After a crash, the owner's books recover them. */
export const PAYER_WRITE_MS = 100
/** Peers whose last voucher is cached, so that the calls of a window need no new parse. */
export const VOUCHERS_CACHED_MAX = 10_000
/** Receipt signatures checked per round; of more receipts, a sample. This costs 1% of a core. */
export const RECEIPTS_CHECKED_MAX = 16
/** Pause between two rounds of signature checks. */
export const RECEIPTS_CHECK_MS = 100
/** Pause between two requests for a missing receipt: an owner's operator may have to unlock its key. */
export const DISPUTE_ASK_MS = 1 * MINUTE
/** The next paid call asks again after this pause, so that many calls ask once. */
export const DISPUTE_ASK_PAUSE_MS = 1 * SECOND
/** A call waits this long for the missing receipt of an earlier one: a few round trips. */
export const DISPUTE_WAIT_MS = 2 * SECOND
/** The fault of a disputed receipt: one word of the payer. */
export const DISPUTE_FAULT_CHARS_MAX = 64
/** An ended dispute is listed this long, as call records are. */
export const DISPUTE_KEPT_MS = 30 * DAY
/** A busy owner signs receipts once per this time: a thousand signatures a second cost 5% of a core. */
export const RECEIPTS_SIGN_MS = 1
/** A busy owner also signs when one in this many running calls waits for a receipt. */
export const RECEIPTS_SIGNED_PART = 4
/** An owner whose key fails tries it again after this pause, when a paid call arrives. Until then, it refuses paid calls. */
export const KEY_TRIAL_PAUSE_MS = 1 * SECOND
/** Cached addresses of splitters. */
export const SPLITTERS_CACHED_MAX = 1_000
/** Receipts waiting for a payer's asynchronous write. */
export const PAYER_RECEIPTS_MAX = 1_024
/** Receipts of one page. */
export const RECEIPTS_PAGE_MAX = 1_000
/** Records read per page. Free and failed calls have no receipt. */
export const RECEIPT_RECORDS_READ_MAX = 20_000
/** Pause after a failed top-up of a channel. */
export const TOP_UP_PAUSE_MS = 30 * SECOND
/** Calls signed for in advance: one signature for many calls of a busy link. */
export const WINDOW_CALLS = 20
/** Amount signed for in advance, where that is less. */
export const WINDOW_ATOMS = USDC / 100n
/** Unearned money at one owner, calls in flight and window together. */
export const EXPOSURE_ATOMS_MAX = 1n * USDC
/** Default price limit of one call. */
export const CALL_PRICE_ATOMS_MAX = USDC / 20n
/** Default daily limit of a node: ten keys at their limit. */
export const DAILY_ATOMS_MAX = 10n * USDC
/** Deposits whose gas is free with a free withdrawal. Customers top up now and then. */
export const FREE_DEPOSITS_MAX = 3
/** Delay of a payer's withdrawal. An owner's machine may be offline for a night. */
export const WITHDRAW_DELAY_S = 24 * 60 * 60
/** Shortest delay that the contract allows. */
export const WITHDRAW_DELAY_S_MIN = 15 * 60
/** Longest delay that the contract allows. */
export const WITHDRAW_DELAY_S_MAX = 30 * 24 * 60 * 60
/** Longest delay that a payer accepts. An owner can block the deposit for that long. */
export const WITHDRAW_DELAY_AGREED_S_MAX = 7 * 24 * 60 * 60
/** A chain query is valid for one part in this many of a channel's delay. A later one could miss a withdrawal. */
export const CHAIN_VIEW_PART = 4
/** Default deposit. Submitting it costs the owner gas. */
export const DEPOSIT_ATOMS_MIN = USDC / 2n
/** Largest first deposit that an owner can ask for. */
export const DEPOSIT_ATOMS_MAX = 20n * USDC
/** A channel is topped up in the background when less than one part in this many of a deposit remains. */
export const TOP_UP_PART = 5n
/** A block of Base is final after this time. Until then owners count a deposit in part, so a busy payer deposits ahead. */
export const DEPOSIT_SETTLES_MS = 20 * MINUTE
/** Validity of a deposit's authorisation. */
export const DEPOSIT_VALID_MS = 1 * HOUR
/** Remaining validity of a deposit's authorisation when an owner receives it. */
export const DEPOSIT_MARGIN_MS = 2 * MINUTE
/** An owner waits this long for a deposit to be mined, a few blocks of Base, before it responds "pending". */
export const DEPOSIT_WAIT_MS = 10 * SECOND
/** One exchange about payments, `DEPOSIT_WAIT_MS` included. */
export const PAY_EXCHANGE_MS = 15 * SECOND
/** Message about payments: addresses, hashes and one signature. */
export const PAY_MESSAGE_BYTES_MAX = 2 * KiB
/** Wait for running calls when a channel closes: the longest call. */
export const CLOSE_CALLS_MS = UPSTREAM_TIMEOUT_MS_MAX + 5 * SECOND
/** Wait for the refund of an x402 client to be mined: below the default timeout of a call. */
export const REFUND_WAIT_MS = 20 * SECOND
/** A payer tries to close a channel this long: the running calls, and some blocks. */
export const CLOSE_MS = CLOSE_CALLS_MS + 1 * MINUTE
/** Time between two checks of calls and chain while a channel closes. */
export const LEAVE_POLL_MS = 2 * SECOND
/** Time between two checks of a closing channel where nothing can change soon, and the pause after a failure. */
export const LEAVE_PAUSE_MS = 1 * MINUTE
/** Closed channels that an owner remembers. It treats others as unknown. */
export const CLOSED_CHANNELS_KEPT_MAX = 10_000
/** A call waits this long for other calls of its owner to end when the exposure limit is reached. */
export const EXPOSURE_WAIT_MS = 5 * SECOND
/** Channels of one peer at one owner, one for each of its providers. */
export const CHANNELS_PER_PEER_MAX = 8
/** Channels of all peers at one owner. */
export const CHANNELS_MAX = 100_000
/** Salt counters tried for a new channel. A payer that lost its books may reuse old ones. */
export const COUNTERS_TRIED_MAX = 100
/** Depth of the Merkle tree of receipts signed together: as many as a commit has. */
export const RECEIPT_PATH_MAX = 12
/** A receipt with the longest name and path has under 1 KiB. Payers store receipts, and owners may add unknown fields. */
export const RECEIPT_BYTES_MAX = 2 * KiB
/** Largest difference between the time of a receipt and of its request id. An owner whose clock is further off refuses the id. */
export const RECEIPT_TIME_OFF_MS_MAX = REQUEST_AGE_MS_MAX + REQUEST_ID_AHEAD_MS
/** Pause between two reads of the chain, over all channels, for calls that a new deposit does not cover yet. */
export const PENDING_LOOK_MS = 1 * SECOND
/** Part of one channel's deposits that counts in blocks that are not `safe` yet, and may be reverted. */
export const COUNTED_LATEST_ATOMS_MAX = 1n * USDC
/** The same of all deposits at one owner. */
export const COUNTED_LATEST_OWNER_ATOMS_MAX = 20n * USDC
/** Part of one channel's deposits that counts in `safe` blocks that are not `finalized`. The rest waits. */
export const COUNTED_SAFE_ATOMS_MAX = 25n * USDC
/** Credit of a node in one hour against deposits that are not counted yet, with their gas. It bounds a loss to $24 a day. */
export const CREDIT_HOUR_ATOMS_MAX = 1n * USDC
/** Served to one payer's address before its deposit counts: ten calls at $0.001. */
export const CREDIT_ADDRESS_ATOMS_MAX = USDC / 100n
/** A credit that was not returned counts this long after the end of its deposit. */
export const CREDIT_LOST_MS = 1 * HOUR
/** Channels above which an owner gives no credit: channels with an unpaid credit stay, so that a later deposit pays it. */
export const CREDIT_CHANNELS_MAX = CHANNELS_MAX / 10
/** Lowest price paid by its own transaction, which costs about $0.001 of gas on Base. */
export const EXACT_ATOMS_MIN = USDC / 50n
/** Validity of an x402 payment's signature: the longest call, at an owner whose clock is ahead by what `souk doctor` allows. */
export const PAYMENT_VALID_S = 600
/** Remaining validity of an x402 payment when its call begins: the longest call. */
export const PAYMENT_MARGIN_MS = 150 * SECOND
/** A response paid by x402 is stored for repeats this long. The payment's signature is public by then. */
export const PAYMENT_REPLAY_MS = 1 * HOUR
/** A call waits this long for its payment to be mined, a few blocks of Base, before it responds "pending". */
export const COLLECT_WAIT_MS = 10 * SECOND
/** Pause after a payment could not be sent for lack of gas or an endpoint. */
export const COLLECT_RETRY_MS = 15 * SECOND
/** Oldest transfer sent by somebody else that counts as a new payment: half of `PAYMENT_REPLAY_MS`. */
export const FOREIGN_TRANSFER_MS = PAYMENT_REPLAY_MS / 2
/** Oldest transfer sent by somebody else that counts as a deposit into an account: as far back as logs are read. */
export const DEPOSIT_LOOK_MS = 1 * DAY
/** Attempts to find or send a transfer before its payment counts as lost. Parts of an endpoint may lag behind others. */
export const TRANSFER_LOOKS_MAX = 5
/** Blocks per log query. Public endpoints limit this. */
export const LOG_BLOCKS_MAX = 500n
/** Log queries per search: a day of Base in all. */
export const LOG_READS_MAX = 100
/** Payments and deposits from accounts with code that are uncollected or failed, per UTC day. Each failure costs a node gas. */
export const CONTRACT_PAYMENTS_MAX = 50
/** Uncollected x402 payments. Below `SUBMISSIONS_WAITING_MAX`, so that claims find room. */
export const PAYMENTS_UNSETTLED_MAX = 200
