/** Limits: Consumer keys. */
import { SECOND, MINUTE, DAY, USDC } from './units.ts'

/** Consumer keys of one node, without those of accounts. */
export const KEYS_MAX = 100_000
/** Keys of one account: a small company's programs. Ended keys are deleted first. */
export const KEYS_PER_ACCOUNT_MAX = 100
/** Keys of an account without a deposit, ended ones included: anybody can open one for nothing. */
export const KEYS_PER_UNFUNDED_ACCOUNT_MAX = 10
/** Cache time of the number of keys, which protects the disk only. */
export const KEYS_COUNTED_MS = 10 * SECOND
/** APIs that a key can be limited to. */
export const KEY_APIS_MAX = 100
/** Default time for which a rotated key stays valid, to replace it everywhere. */
export const KEY_OVERLAP_MS = DAY
/** Longest time for which a rotated key stays valid. */
export const KEY_OVERLAP_MS_MAX = 30 * DAY
/** Label of a key. */
export const LABEL_CHARS_MAX = 100
/** Cached verified keys, so that a busy key needs no store lookup. */
export const KEYS_CACHED_MAX = 10_000
/** Cached pseudonyms of consumers. Each costs an HMAC. */
export const PSEUDONYMS_CACHED_MAX = 10_000
/** Shortest time between two writes of a key's last use. */
export const KEY_USE_MS = 1 * MINUTE
/** Default daily limit of one key. */
export const KEY_DAILY_ATOMS_MAX = 1n * USDC
/** Price limit of a call with the public demo key: the most expensive API of the demo. */
export const DEMO_PRICE_ATOMS_MAX = USDC / 50n
/** Daily cost of all demo calls to the operator. */
export const DEMO_DAILY_ATOMS_MAX = USDC / 4n
