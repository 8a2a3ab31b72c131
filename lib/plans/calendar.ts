import { DAY_MS } from '../base/limits/time.ts'
import type { Period } from '../interface/plan.ts'

/** A day of the Gregorian calendar (month 0 is January), and the time within it. */
interface Moment {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly ms: number
}

const DAYS_IN: Readonly<Partial<Record<Period, number>>> = { day: 1, week: 7 }
const MONTHS_IN: Readonly<Partial<Record<Period, number>>> = { month: 1, year: 12 }

/**
 * Adds `count` periods to a time, in UTC. Each is counted from the anchor, and limited to the end of the month. From 31
 * January, one month leads to the last day of February, and two lead to 31 March.
 */
export function plusPeriods(anchor: number, period: Period, count: number): number {
  const days = DAYS_IN[period]
  if (days !== undefined) return anchor + count * days * DAY_MS
  const { year, month, day, ms } = momentOf(anchor)
  const months = year * 12 + month + count * (MONTHS_IN[period] ?? 0)
  const wanted = { year: Math.floor(months / 12), month: months - Math.floor(months / 12) * 12 }
  return dayNumber({ ...wanted, day: Math.min(day, daysOf(wanted)) }) * DAY_MS + ms
}

/** The first end of a period after `at`, counted from the anchor. */
export function nextBoundary(anchor: number, period: Period, at: number): number {
  const shortest = (DAYS_IN[period] ?? (MONTHS_IN[period] ?? 1) * 28) * DAY_MS
  // A lower bound of the count, because no period is longer. Few steps remain.
  const longest = shortest * (31 / 28)
  let count = Math.max(1, Math.floor((at - anchor) / longest) - 1)
  while (plusPeriods(anchor, period, count) <= at) count++
  return plusPeriods(anchor, period, count)
}

function daysOf({ year, month }: Pick<Moment, 'year' | 'month'>): number {
  if (month === 1) return isLeap(year) ? 29 : 28
  return month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/**
 * Days since 1 January 1970. Years start in March here, so that the leap day is the last day (the "days from civil"
 * algorithm).
 */
function dayNumber({ year, month, day }: Omit<Moment, 'ms'>): number {
  const y = month < 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const ofEra = y - era * 400
  const ofYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468
}

function momentOf(at: number): Moment {
  const days = Math.floor(at / DAY_MS)
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * ofYear + 2) / 153)
  const month = (fromMarch + 2) % 12
  return {
    year: era * 400 + yearOfEra + (month < 2 ? 1 : 0),
    month,
    day: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
    ms: at - days * DAY_MS
  }
}
