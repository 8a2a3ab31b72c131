/** Limits: Time. */
import { DAY } from './units.ts'

/** The day of a daily cap, in UTC. */
export const DAY_MS = DAY
