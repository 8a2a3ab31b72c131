/** The parts of the lexical forms of `temporal.ts`, which are checked before. */
const PARTS =
  /^(?:(?<year>-?\d{4,})(?:-(?<month>\d\d)(?:-(?<day>\d\d))?)?|--(?<otherMonth>\d\d)(?:-(?<monthDay>\d\d)|--)?|---(?<onlyDay>\d\d))?(?<at>T)?(?:(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?)?(?<zone>Z|[+-]\d\d:\d\d)?$/
/** Seconds since the year 0 are exact up to this year. */
const YEAR_MAX = 100_000_000
const DAY_SECONDS = 86_400

interface Instant {
  readonly seconds: number
  /** The digits after the point, without zeros at the end. */
  readonly fraction: string
  readonly hasZone: boolean
}

/**
 * Compares two values of the same date or time type (XML Schema part 2, section 3.2.7.4); undefined if their order depends on the
 * zone of one that has none.
 */
export function compareTemporal(a: string, b: string): number | undefined {
  const [x, y] = [instantOf(a), instantOf(b)]
  if (x === undefined || y === undefined || x.hasZone !== y.hasZone) return undefined
  if (x.seconds !== y.seconds) return x.seconds - y.seconds
  return x.fraction === y.fraction ? 0 : x.fraction < y.fraction ? -1 : 1
}

function instantOf(text: string): Instant | undefined {
  const parts = PARTS.exec(text)?.groups
  // Any leap year serves for values without a year.
  const year = Number(parts?.['year'] ?? 4)
  if (parts === undefined || Math.abs(year) > YEAR_MAX) return undefined
  const month = Number(parts['month'] ?? parts['otherMonth'] ?? 1)
  const day = Number(parts['day'] ?? parts['monthDay'] ?? parts['onlyDay'] ?? 1)
  // 24:00:00 is the start of the next day, and of the same one for a time without a date.
  const hour = parts['at'] === undefined && parts['hour'] === '24' ? 0 : Number(parts['hour'] ?? 0)
  const time = hour * 3600 + Number(parts['minute'] ?? 0) * 60 + Number(parts['second'] ?? 0)
  return {
    seconds: daysOf(year, month, day) * DAY_SECONDS + time - offsetOf(parts['zone']),
    fraction: (parts['fraction'] ?? '').replace(/0+$/, ''),
    hasZone: parts['zone'] !== undefined
  }
}

/** Days from the start of March of the year 0 in the Gregorian calendar. */
function daysOf(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return 365 * years + leaps + Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
}

/** The seconds that a zone is ahead of UTC. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0
  const seconds = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4)) * 60
  return zone.startsWith('-') ? -seconds : seconds
}
