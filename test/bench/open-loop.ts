import { setTimeout as pause } from 'node:timers/promises'
import { quantile } from './statistics.ts'

export interface PaceShape {
  readonly perSecond: number
  readonly measureMs: number
}

export interface PaceResult {
  readonly p50Us: number
  readonly p99Us: number
}

/**
 * Open loop: calls start at fixed times, whether earlier ones have ended or not. A latency counts from the time at which the call was due, so
 * it includes the wait in the client.
 */
export async function openLoop(
  { perSecond, measureMs }: PaceShape,
  call: (n: number) => Promise<void>
): Promise<PaceResult> {
  const latenciesMs: number[] = []
  const running: Array<Promise<void>> = []
  const startedAt = performance.now()
  const count = Math.round((perSecond * measureMs) / 1_000)
  for (let n = 0; n < count; ) {
    const now = performance.now()
    for (; n < count; n++) {
      const dueAt = startedAt + (n / perSecond) * 1_000
      if (dueAt > now) break
      running.push(call(n).then(() => void latenciesMs.push(performance.now() - dueAt)))
    }
    await pause(1)
  }
  await Promise.all(running)
  latenciesMs.sort((a, b) => a - b)
  return { p50Us: quantile(latenciesMs, 0.5) * 1_000, p99Us: quantile(latenciesMs, 0.99) * 1_000 }
}
