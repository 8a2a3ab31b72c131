/** Limits: Hosted accounts. */
import { SECOND, MINUTE, HOUR, DAY, USDC } from './units.ts'

/** Cache time of data in a shared store. A change waits this long for a process that does not confirm it. */
export const SHARED_FRESH_MS = 5 * SECOND
/** Accounts that one host may open per `ACCOUNTS_PER_HOST_MS`: enough for an office, too few to fill a disk. */
export const ACCOUNTS_PER_HOST = 10
/** Period in which the new accounts of one host are counted. */
export const ACCOUNTS_PER_HOST_MS = 1 * HOUR
/** Accounts without a deposit of one ingress, or of several that share a database: about 100 MB with their first keys. */
export const ACCOUNTS_UNFUNDED_MAX = 100_000
/** Cache time of their number. Counting 100,000 takes a second. */
export const ACCOUNTS_COUNTED_MS = 1 * HOUR
/** An account that never received a deposit, and whose keys were never used, may be deleted after this time. */
export const ACCOUNT_UNUSED_KEPT_MS = 90 * DAY
/** Balance of an account at which a warning is sent, with some calls left. */
export const ACCOUNT_LOW_ATOMS = USDC / 10n
/** An idle slice is returned after this time, for other processes. */
export const SLICE_IDLE_MS = 5 * SECOND
/** Pause before a process reserves in advance again, after no slice of a daily cap was free. */
export const SLICE_PAUSE_MS = 1 * SECOND
/** Amount that one process reserves of an account's balance at once. */
export const ACCOUNT_SLICE_ATOMS_MAX = USDC / 4n
/** A process reserves at most one part in this many of the balance. */
export const ACCOUNT_SLICE_PART = 8n
/** Smallest deposit into an account. Each costs the operator gas. */
export const ACCOUNT_DEPOSIT_ATOMS_MIN = USDC / 2n
/** Largest deposit into an account. */
export const ACCOUNT_DEPOSIT_ATOMS_MAX = 1_000n * USDC
/** Smallest withdrawal from an account, unless it takes the whole balance. */
export const ACCOUNT_WITHDRAWAL_ATOMS_MIN = USDC / 2n
/** Deposits of one account per UTC day. The operator pays their gas until a withdrawal does. */
export const ACCOUNT_DEPOSITS_MAX = 20
/** Withdrawals of all accounts per UTC day at the operator's gas, one per account: under a dollar on Base. */
export const FREE_WITHDRAWALS_MAX = 100
/** Time between two heartbeats of a process that holds shared reservations. */
export const HOLDER_BEAT_MS = 10 * SECOND
/** A process's reservations are released after this time without a heartbeat. */
export const HOLDER_MS = 1 * MINUTE
