import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { deadline, systemClock } from '../../lib/base/clock.ts'
import { within as withinSignal } from '../../lib/base/within.ts'

const PAUSE_MS = 20
/** Bounds are for an idle machine. A busy one takes longer, and a test must not fail because of that. */
const PATIENCE = 6
/** A poll only guards against a test that hangs, so it continues at least this long. */
export const PATIENCE_MS_MIN = 60_000

/** Polls until the result is not `undefined`, for `boundMs` on an idle machine, and for `PATIENCE_MS_MIN` on any. */
export async function eventually<T>(
  what: string,
  boundMs: number,
  ask: () => T | undefined | Promise<T | undefined>
): Promise<T> {
  const patienceMs = Math.max(boundMs * PATIENCE, PATIENCE_MS_MIN)
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
  const message = `not within ${patienceMs} ms: ${what}`
  const limit = deadline(systemClock, patienceMs, () => new assert.AssertionError({ message }))
  try {
    return await withinSignal(promise, limit.signal)
  } finally {
    limit.clear()
  }
}
