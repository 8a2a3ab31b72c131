/** Limits: The chain. */
import { SECOND, MINUTE, DAY, USDC } from './units.ts'

/** One request to a chain endpoint. Public ones respond within a second or not at all. */
export const CHAIN_REQUEST_MS = 10 * SECOND
/** How long a start waits for the chain. The node runs without it. */
export const CHAIN_START_MS = 3 * SECOND
/** Pause before a failed chain is checked again, doubled each time: a restarted endpoint is found soon. */
export const CHAIN_RETRY_MS_MIN = 1 * SECOND
/** Longest such pause: an endpoint that is away for days costs little, and an operator waits no longer than this. */
export const CHAIN_RETRY_MS_MAX = 30 * SECOND
/** The same warning about the chain is not repeated in this time. The loops behind it run every few seconds. */
export const CHAIN_WARNING_MS = 10 * MINUTE
/** Requests in one batch. Public endpoints refuse larger ones. */
export const CHAIN_BATCH_MAX = 50
/** Requests that are sent alone after a refused batch. Then batches are tried again: the refusal may have been an outage. */
export const CHAIN_SINGLE_REQUESTS = 1_000
/** Channels per contract read: 2 million gas of the 50 million that endpoints allow. */
export const CHANNELS_PER_READ_MAX = 200
/** Stored part of a revert message. */
export const REVERT_CHARS_MAX = 200
/** Wait of an operator command for its transaction. */
export const MINED_MS = 2 * MINUTE
/** Time between two checks for an operator's transaction. Base has a block every 2 s. */
export const MINED_POLL_MS = 1 * SECOND
/** Unmined transactions. Endpoints keep 16 per account for certain; a stuck one blocks all after it. */
export const SUBMISSIONS_IN_FLIGHT_MAX = 8
/** Queued transactions: a few minutes at a block every 2 s. */
export const SUBMISSIONS_WAITING_MAX = 256
/** Finished transactions remembered for repeats. Afterwards only the contracts reject repeats. */
export const SUBMISSIONS_KEPT_MAX = 1_000
/** Time between two checks of unmined transactions. */
export const SUBMIT_POLL_MS = 1 * SECOND
/** Time between two checks of mined transactions that may be reverted. */
export const FINAL_POLL_MS = 10 * SECOND
/** Mined transactions checked together: one request to the endpoint. */
export const RECHECKED_AT_ONCE = 40
/** Pause before the same transaction is sent again, because endpoints lose their pools. */
export const REBROADCAST_MS = 15 * SECOND
/** An unmined transaction gets a higher fee after this time. */
export const STUCK_MS = 30 * SECOND
/** A transaction without a receipt is given up this long after its nonce is final: one of the endpoint's backends may lag. */
export const RECEIPT_LAG_MS = 10 * MINUTE
/** Fee increases of one transaction. Sixteen steps of 1/8 give six times the first fee. */
export const FEE_BUMPS_MAX = 16
/** Highest fee per gas, in wei: a thousand times Base's usual fee. A malicious endpoint cannot empty the account. */
export const FEE_WEI_MAX = 20_000_000_000n
/** Gas added to the usual quarter of reserve, for small transactions. */
export const GAS_SPARE = 20_000n
/** Gas of one transaction (EIP-7825). */
export const TRANSACTION_GAS_MAX = 2n ** 24n
/** Time between two reads of channels from the chain. A withdrawal takes at least 15 minutes. */
export const WATCH_POLL_MS = 5 * SECOND
/** Time between two reads of the account's ETH because it did not cover a payer's transaction. Anybody can ask for one. */
export const GAS_READ_MS = 1 * SECOND
/** Channels per read: five contract calls. With more channels, the longest unread come first. */
export const WATCHED_AT_ONCE = 1_000
/** Channels claimed in one transaction: 90 kB of the 128 kB that nodes accept, 4.3 million gas. */
export const CLAIM_ROWS_MAX = 200
/** Simulations per round to find rows that the contract rejects. The next round continues. */
export const CLAIM_TRIALS_MAX = 100
/** A channel with a rejected row is left out of claims this long. */
export const REFUSED_ROW_MS = 10 * MINUTE
/** Time between two attempts to move money that the token refuses to move. An attempt only reads while it does. */
export const WITHHELD_MS = 10 * MINUTE
/** Attempts of a step that passed its simulation but failed on chain. */
export const REDEEM_TRIES_MAX = 3
/** Amount at which earnings are claimed. A whole round costs less than a cent on Base. */
export const REDEEM_ATOMS = 5n * USDC
/** Age at which earnings are claimed. */
export const REDEEM_AGE_MS = DAY
/** Time between two checks for final claims, settlements and payouts. */
export const BOOKS_POLL_MS = 1 * MINUTE
/** Providers read per turn: three requests each in one batch. */
export const PROVIDERS_READ_AT_ONCE = 16
/** Transactions listed in the earnings, per provider and in all. */
export const SETTLEMENTS_SHOWN_MAX = 10
/** Gas limit of a claim of one row. */
export const CLAIM_GAS = 110_000n
/** Gas limit of each further row. */
export const CLAIM_ROW_GAS = 25_000n
/** Gas limit of settling. */
export const SETTLE_GAS = 90_000n
/** Gas limit of a first payout. */
export const DISTRIBUTE_GAS = 220_000n
/** Gas limit of collecting a deposit. */
export const DEPOSIT_GAS = 150_000n
/** Most gas of a transfer or deposit in its simulation. The payer's contract uses it: a passkey takes 400,000 without a precompile. */
export const SIGNED_GAS_MAX = 500_000n
/** Gas limit of a refund. */
export const REFUND_GAS = 100_000n
/** Gas limit of a signed transfer into the wallet. */
export const WALLET_DEPOSIT_GAS = 86_000n
/** Gas limit of a transfer from the wallet. */
export const WALLET_TRANSFER_GAS = 65_000n
/** Gas of a withdrawal, start and end together. */
export const WITHDRAW_GAS = 260_000n
/** An owner accepts a channel only with gas for this many claims. */
export const CLAIMS_IN_HAND_MIN = 3n
/** An owner serves against a deposit that is not mined only with gas for this many claims: a deposit without gas stays unmined. */
export const CREDIT_CLAIMS_IN_HAND_MIN = 2n * CLAIMS_IN_HAND_MIN
/** Transactions per UTC day that an owner pays for a payer or node beyond its earnings. A new user may leave twice. */
export const UNEARNED_STEPS_MAX = 2
/** Cost per UTC day of all transactions that an owner pays for beyond earnings: about 200 on Base. */
export const UNEARNED_GAS_ATOMS_MAX = 3n * USDC
/** Transactions beyond earnings that an owner pays for at any gas price, so that a new user can always leave. */
export const UNEARNED_STEPS_MIN = 10
/** Nodes and payers counted per day for transactions beyond earnings. Further ones get none. */
export const UNEARNED_NAMES_MAX = 10_000
/** Assumed price of an ether for gas decisions. Too high on purpose, because waiting is free. */
export const ETHER_ATOMS = 5_000n * USDC
