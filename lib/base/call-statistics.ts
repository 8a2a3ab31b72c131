import type { CallOutcomeSeen } from './outcome-seen.ts'

/** Ratio of neighbouring latency buckets. It makes a percentile accurate to 10%. */
const BUCKET_FACTOR = 1.2
const BUCKETS = 65
const HALF_LIFE_MS = 7 * 24 * 60 * 60 * 1_000
/** Above this number of calls all counts are halved, so that recent calls dominate. */
const CALLS_WEIGHED_MAX = 1_000
/** Smaller counts are treated as zero. */
const NOTHING = 0.01

/** Call results in a fixed number of counters. */
export interface Tally {
  good: number
  bad: number
  /** Number of successful calls per latency bucket. Bucket `i` is about 1.2^i milliseconds. */
  latencies: number[]
}

/** A tally whose counts decay over time. */
export interface CallCounts extends Tally {
  /** Time of the last decay, milliseconds since the epoch. */
  at: number
}

export const noTally = (): Tally => ({ good: 0, bad: 0, latencies: [] })

/** Adds one call. */
export function tally(to: Tally, { isGood, ms }: CallOutcomeSeen): void {
  if (isGood) to.good++
  else to.bad++
  if (!isGood || ms === undefined) return
  addAt(to.latencies, bucketOf(ms), 1)
}

export function addTally(to: Tally, { good, bad, latencies }: Tally): void {
  to.good += good
  to.bad += bad
  for (const [bucket, count] of latencies.entries()) addAt(to.latencies, bucket, count)
}

function addAt(latencies: number[], bucket: number, count: number): void {
  while (latencies.length <= bucket) latencies.push(0)
  latencies[bucket] = (latencies[bucket] ?? 0) + count
}

export const noCalls = (at: number): CallCounts => ({ ...noTally(), at })

export function countCall(counts: CallCounts, outcome: CallOutcomeSeen, now: number): void {
  fade(counts, now)
  tally(counts, outcome)
  if (counts.good + counts.bad > CALLS_WEIGHED_MAX) scale(counts, 1 / 2)
}

/** Applies the decay since the last call. Does nothing where the clock was set back. */
export function fade(counts: CallCounts, now: number): void {
  const elapsed = Math.max(0, now - counts.at)
  counts.at = now
  if (elapsed > 0) scale(counts, 2 ** (-elapsed / HALF_LIFE_MS))
}

/** The sum of several owners' counts. */
export function together(all: readonly CallCounts[], now: number): CallCounts {
  const sum = noCalls(now)
  for (const counts of all) {
    fade(counts, now)
    addTally(sum, counts)
  }
  return sum
}

/** The latency percentile `q` (0 to 1) of successful calls, in milliseconds. Undefined without successful calls. */
export function percentile({ latencies }: Pick<Tally, 'latencies'>, q: number): number | undefined {
  const all = latencies.reduce((sum, count) => sum + count, 0)
  if (all < NOTHING) return undefined
  let left = q * all
  const bucket = latencies.findIndex((count) => (left -= count) <= 0)
  return Math.round(BUCKET_FACTOR ** (bucket === -1 ? latencies.length - 1 : bucket) * 10) / 10
}

export const isNothing = ({ good, bad }: CallCounts): boolean => good + bad < NOTHING

function scale(counts: CallCounts, by: number): void {
  counts.good *= by
  counts.bad *= by
  // In place, because each call comes here.
  const { latencies } = counts
  for (let bucket = 0; bucket < latencies.length; bucket++) latencies[bucket] = (latencies[bucket] ?? 0) * by
}

function bucketOf(ms: number): number {
  const bucket = Math.round(Math.log(Math.max(1, ms)) / Math.log(BUCKET_FACTOR))
  return Math.min(bucket, BUCKETS - 1)
}
