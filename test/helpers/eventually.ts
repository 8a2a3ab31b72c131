import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const PAUSE_MS = 20

/** Polls until the result is not `undefined`, at most for `boundMs`. */
export async function eventually<T>(
  what: string,
  boundMs: number,
  ask: () => T | undefined | Promise<T | undefined>
): Promise<T> {
  const end = performance.now() + boundMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > end) assert.fail(`waited ${boundMs} ms in vain for: ${what}`)
    await pause(PAUSE_MS)
  }
}

/** Awaits the promise, but fails after `boundMs`, so that no test hangs. */
export async function within<T>(what: string, boundMs: number, promise: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const late = pause(boundMs, undefined, { signal: stop.signal }).then(() =>
    assert.fail(`not within ${boundMs} ms: ${what}`)
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    late.catch(() => undefined)
    stop.abort()
  }
}
