import { type Clock, sleep } from './clock.ts'

/** Resolves when the promise does, after `ms`, or when the signal aborts. The promise must not reject. */
export async function waitAtMost(
  clock: Clock,
  ms: number,
  promise: Promise<unknown>,
  signal?: AbortSignal
): Promise<void> {
  const enough = new AbortController()
  const either = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal])
  await Promise.race([promise, sleep(clock, ms, either).catch(() => {})])
  enough.abort()
}
