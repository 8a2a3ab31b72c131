import { quantile } from './statistics.ts'

export interface LoadShape {
  /** Workers, each with one call under way at any time. */
  readonly concurrency: number
  /** Not counted: connections open, caches fill. */
  readonly warmUpMs: number
  readonly measureMs: number
}

export interface LoadResult {
  /** Calls completed in the measured time, and in all. */
  readonly calls: number
  readonly callsWithWarmUp: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
}

/**
 * Closed loop: every worker calls again as soon as it has its answer. `call` must throw for any answer but the right one; the
 * first failure ends the run, because a benchmark with errors measures something else.
 */
export async function closedLoop(shape: LoadShape, call: (worker: number) => Promise<void>): Promise<LoadResult> {
  const { concurrency, warmUpMs, measureMs } = shape
  const measureFrom = performance.now() + warmUpMs
  let end = measureFrom + measureMs
  const latenciesMs: number[] = []
  let callsWithWarmUp = 0

  const work = async (worker: number): Promise<void> => {
    let startedAt = performance.now()
    while (startedAt < end) {
      await call(worker)
      const now = performance.now()
      callsWithWarmUp++
      if (now >= measureFrom && now <= end) latenciesMs.push(now - startedAt)
      startedAt = now
    }
  }
  const workers = Array.from({ length: concurrency }, (_, worker) => work(worker))
  try {
    await Promise.all(workers)
  } catch (error) {
    end = 0
    await Promise.allSettled(workers)
    throw error
  }

  latenciesMs.sort((a, b) => a - b)
  return {
    calls: latenciesMs.length,
    callsWithWarmUp,
    perSecond: (latenciesMs.length / measureMs) * 1_000,
    p50Us: quantile(latenciesMs, 0.5) * 1_000,
    p99Us: quantile(latenciesMs, 0.99) * 1_000
  }
}
