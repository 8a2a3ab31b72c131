import { InvalidArgumentError } from 'commander'
import { duration } from './number-option.ts'

const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** `2026-11-21`, `2026-11-21T10:00Z`, or `7d` for so long ago, in milliseconds since the epoch. UTC where no zone is said. */
export function timeAgoOrAt(typed: string): number {
  const match = ISO.exec(typed)
  if (match === null) {
    if (/^\d+[mhd]$/.test(typed)) return Date.now() - duration(typed)
    throw new InvalidArgumentError('It is a date like 2026-11-21 or 2026-11-21T10:00Z, or like 7d, 12h or 15m ago.')
  }
  const [, date = '', time, , , zone] = match
  const at = Date.parse(time === undefined || zone !== undefined ? typed : `${typed}Z`)
  // The 30th of February would be taken for the 2nd of March.
  const day = Date.parse(`${date}T00:00Z`)
  const isDay = !Number.isNaN(day) && new Date(day).toISOString().startsWith(date)
  if (Number.isNaN(at) || !isDay) throw new InvalidArgumentError('There is no such time.')
  return at
}
