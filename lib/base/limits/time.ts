/** Limits: Time. */
import { DAY } from './units.ts'

/** The day of a daily cap, in UTC. */
export const DAY_MS = DAY
/** Latest time that a peer or a user may name: the last one of a JavaScript `Date`. A later one cannot be shown. */
export const TIME_MS_MAX = 100_000_000 * DAY
/** Lateness of a timer that shows that this process stood still. Below it, turns of the event loop under load are as long. */
export const TIMER_LATE_MS = 100
