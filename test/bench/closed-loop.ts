import { quantile } from './statistics.ts'

export interface LoadShape {
  /** Number of workers, each with one call in flight. */
  readonly concurrency: number
  /** Not counted, because connections open and caches fill. */
  readonly warmUpMs: number
  readonly measureMs: number
}

export interface LoadResult {
  /** Calls completed in the measured time, and in total. */
  readonly calls: number
  readonly callsWithWarmUp: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
}

/**
 * Closed loop: each worker calls again after each response. `call` must throw for a wrong response. The first failure ends the
 * run, because a benchmark with errors measures something else.
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
