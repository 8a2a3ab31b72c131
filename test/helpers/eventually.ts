import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const PAUSE_MS = 20
/** Bounds are for an idle machine. A busy one takes longer, and a test must not fail because of that. */
const PATIENCE = 6

/** Polls until the result is not `undefined`, at most for `boundMs` on an idle machine. */
export async function eventually<T>(
  what: string,
  boundMs: number,
  ask: () => T | undefined | Promise<T | undefined>
): Promise<T> {
  const patienceMs = boundMs * PATIENCE
  const end = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > end) assert.fail(`waited ${patienceMs} ms in vain for: ${what}`)
    await pause(PAUSE_MS)
  }
}

/** Awaits the promise, but fails after `boundMs` on an idle machine, so that no test hangs. */
export async function within<T>(what: string, boundMs: number, promise: Promise<T>): Promise<T> {
  const patienceMs = boundMs * PATIENCE
  const stop = new AbortController()
  const late = pause(patienceMs, undefined, { signal: stop.signal }).then(() =>
    assert.fail(`not within ${patienceMs} ms: ${what}`)
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    late.catch(() => undefined)
    stop.abort()
  }
}
