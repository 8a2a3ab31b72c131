/** Limits: Admission: rates, calls in flight, overload. */
import { SECOND, HOUR, DAY } from './units.ts'

/** Concurrent calls of one peer: 50 ms of work at the measured 20,000 calls/s. */
export const IN_FLIGHT_PER_PEER_MAX = 1_024
/** Concurrent calls of one listing, without a queue. A modest upstream can process that many. */
export const IN_FLIGHT_PER_API_MAX = 512
/** Default of concurrent calls of one consumer at one listing. It leaves room for other consumers. */
export const IN_FLIGHT_PER_CONSUMER_MAX = 256
/** Timer tick of the event-loop monitor for admission control. */
export const LOAD_TICK_MS = 20
/** A later tick counts as overload. 256 concurrent calls of one key cause turns of at most 100 ms. */
export const LOAD_LATE_MS = 150
/** Late ticks in a row that start load shedding. */
export const LOAD_LATE_TICKS = 3
/** Delay within one turn above which requests are refused at once. */
export const LOAD_TURN_MS_MAX = 1 * SECOND
/** Target delay of a turn under overload. Refused requests wait half a turn (median). */
export const LOAD_TARGET_MS = 30
/** Load shedding ends after this time in which all requests could have been admitted. */
export const LOAD_CALM_MS = 1 * SECOND
/** Calls admitted per tick even under overload: an idle node on a busy machine refuses nothing. */
export const LOAD_ADMITTED_MIN = 16
/** `Retry-After` of an overloaded node. Half of the running calls have ended by then. */
export const OVERLOAD_PAUSE_MS = 1 * SECOND
/** Calls that one peer may repeat after a restart of the owner which the owner does not know: all that it may have had in flight. */
export const INTERRUPTED_CALLS_PER_PEER_BURST = 1_024
/** Time until it may repeat one more. */
export const INTERRUPTED_CALL_PER_PEER_REFILL_MS = 10 * SECOND
/** The same of all peers together. Each call takes a row of the books, and peers can invent them. */
export const INTERRUPTED_CALLS_BURST = 20_000
/** Time until one more is recorded: 86,400 a day, which take about 20 MB, for 30 days. */
export const INTERRUPTED_CALL_REFILL_MS = 1 * SECOND
/** Peers whose interrupted calls are counted. */
export const INTERRUPTED_CALLERS_MAX = 10_000
/** Calls of a rate limit, and its burst. Twice as many could not be counted exactly. */
export const RATE_CALLS_MAX = 100_000
/** Longest period of a rate limit. Longer periods are quotas. */
export const RATE_PER_MS_MAX = DAY
/** Default of failed calls of one consumer at one API: above a client's bug, below an endless loop. */
export const FAILURES_PER_CONSUMER_MAX = 1_000
/** Period in which the failed calls of one consumer are counted. */
export const FAILURES_PER_CONSUMER_MS = 1 * HOUR
/** A consumer node may fail this many times as often as one consumer, because it calls for many. */
export const FAILURES_PER_PEER = 20
/** Name of a rate limit in headers: `plan-` and a plan's id. */
export const RATE_POLICY_CHARS_MAX = 68
/** Consumers with their own rate counter at an owner. Newer ones share counters by consumer node. */
export const RATED_CONSUMERS_MAX = 65_536
/** Rate counters shared by consumers without their own. A flood by one node affects few others. */
export const RATE_SHARES = 1_024
