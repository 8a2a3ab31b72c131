/** Limits: Events, webhooks and metrics. */
import { KiB, SECOND, MINUTE, HOUR, DAY, USDC } from './units.ts'

/** Recent events stored for readers that reconnect, and the same number of calls. */
export const EVENTS_KEPT_MAX = 256
/** Requests stored for repeating them from the console. */
export const CAPTURED_CALLS_MAX = 100
/** Longest request body stored for repeating: a form, not a file. */
export const CAPTURED_BODY_CHARS_MAX = 16 * KiB
/** Minutes of call statistics: two hours in detail. */
export const SERIES_MINUTES_MAX = 120
/** Quarter-hours of call statistics: a week. */
export const SERIES_QUARTERS_MAX = 7 * 24 * 4
/** Concurrent readers of the event stream, all on one machine. */
export const EVENT_READERS_MAX = 16
/** Webhooks of one node. An event goes to all of them at once. */
export const WEBHOOKS_MAX = 20
/** URL of a webhook. */
export const WEBHOOK_URL_CHARS_MAX = 2_000
/** Events queued for one webhook: the days until it is disabled, at a busy node. */
export const WEBHOOK_QUEUE_MAX = 1_000
/** Concurrent deliveries to one webhook. */
export const WEBHOOK_AT_ONCE = 4
/** One delivery. Standard Webhooks recommends 15 to 30 s. */
export const WEBHOOK_TIMEOUT_MS = 20 * SECOND
/** Pauses between delivery attempts, from Standard Webhooks: two and a half days in all. */
export const WEBHOOK_RETRY_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  24 * HOUR
]
/** Longest time between two checks for due deliveries, and the precision of a delivery's time. */
export const WEBHOOK_LOOK_MS = 1 * MINUTE
/** A webhook's old secret signs beside the new one for this time. */
export const WEBHOOK_OVERLAP_MS = DAY
/** Balance of the wallet at which a warning is sent. */
export const WALLET_LOW_ATOMS = USDC
/** Time between two checks of the wallet and of final transactions: one chain request. */
export const MONEY_LOOK_MS = 5 * MINUTE
/** Final transactions read by such a check. With 8 in each block of 2 s, 1,200 become final between two checks. */
export const FINAL_TOLD_MAX = 2_000
/** Used part of a key's daily cap at which a warning is sent. */
export const CAP_NEARLY_PERCENT = 85n
