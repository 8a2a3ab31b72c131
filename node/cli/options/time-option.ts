import { InvalidArgumentError } from 'commander'
import { duration } from './number-option.ts'

const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** Parses `2026-11-21`, `2026-11-21T10:00Z`, or `7d` (7 days ago), to milliseconds since the epoch. The default zone is UTC. */
export function timeAgoOrAt(typed: string): number {
  const match = ISO.exec(typed)
  if (match === null) {
    if (/^\d+[mhd]$/.test(typed)) return Date.now() - duration(typed)
    throw new InvalidArgumentError('Give a date like 2026-11-21 or 2026-11-21T10:00Z, or an age like 7d, 12h or 15m.')
  }
  const [, date = '', time, , , zone] = match
  const at = Date.parse(time === undefined || zone !== undefined ? typed : `${typed}Z`)
  // `Date.parse` reads 30 February as 2 March.
  const day = Date.parse(`${date}T00:00Z`)
  const isDay = !Number.isNaN(day) && new Date(day).toISOString().startsWith(date)
  if (Number.isNaN(at) || !isDay) throw new InvalidArgumentError('The date or time does not exist.')
  return at
}
