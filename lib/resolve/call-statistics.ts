import type { CallOutcomeSeen } from '../interface/quality.ts'

/** Each bucket of latencies is this much wider than the one before: a percentile is right to a tenth. */
const BUCKET_FACTOR = 1.2
const BUCKETS = 65
const HALF_LIFE_MS = 7 * 24 * 60 * 60 * 1_000
/** Past so many calls the older half counts half: what an API does now shows within as many. */
const CALLS_WEIGHED_MAX = 1_000
/** Counts under this are nothing. */
const NOTHING = 0.01

/** Calls of one API at one owner: a few counts, however many calls. */
export interface CallCounts {
  good: number
  bad: number
  /** Of good ones, by latency; milliseconds in bucket `i` are about 1.2^i. */
  latencies: number[]
  /** When they were last faded, milliseconds since the epoch. */
  at: number
}

export const noCalls = (at: number): CallCounts => ({ good: 0, bad: 0, latencies: [], at })

export function countCall(counts: CallCounts, { isGood, ms }: CallOutcomeSeen, now: number): void {
  fade(counts, now)
  if (isGood) counts.good++
  else counts.bad++
  if (isGood && ms !== undefined) {
    const bucket = bucketOf(ms)
    while (counts.latencies.length <= bucket) counts.latencies.push(0)
    counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1
  }
  if (counts.good + counts.bad > CALLS_WEIGHED_MAX) scale(counts, 1 / 2)
}

/** A clock that was set back fades nothing. */
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
    sum.good += counts.good
    sum.bad += counts.bad
    for (const [bucket, count] of counts.latencies.entries()) {
      while (sum.latencies.length <= bucket) sum.latencies.push(0)
      sum.latencies[bucket] = (sum.latencies[bucket] ?? 0) + count
    }
  }
  return sum
}

/** The latency that the share `q` of all good calls did not exceed, in milliseconds; undefined where there were none. */
export function percentile({ latencies }: CallCounts, q: number): number | undefined {
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
  counts.latencies = counts.latencies.map((count) => count * by)
}

function bucketOf(ms: number): number {
  const bucket = Math.round(Math.log(Math.max(1, ms)) / Math.log(BUCKET_FACTOR))
  return Math.min(bucket, BUCKETS - 1)
}
