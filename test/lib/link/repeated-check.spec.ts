import assert from 'node:assert/strict'
import { defaultLogger } from '@libp2p/logger'
import { REACH_SETTLE_MS, REACH_SETTLE_MS_MAX } from '../../../lib/base/limits/reach.ts'
import { RepeatedCheck } from '../../../lib/link/repeated-check.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

describe('RepeatedCheck', () => {
  const PAUSE_MS = 10_000
  let clock: ManualClock
  /** Ends the running check of the same position. */
  let running: Array<PromiseWithResolvers<void>>
  let signals: AbortSignal[]
  let checks: RepeatedCheck

  const end = async (index: number) => {
    running[index]?.resolve()
    await clock.advance(0)
  }

  beforeEach(() => {
    clock = manualClock()
    running = []
    signals = []
    checks = new RepeatedCheck({
      check: (signal) => {
        const ended = Promise.withResolvers<void>()
        running.push(ended)
        signals.push(signal)
        return ended.promise
      },
      pauseMs: () => PAUSE_MS,
      clock,
      log: defaultLogger().forComponent('souk:test')
    })
    checks.start(PAUSE_MS)
  })

  it('checks after each pause, and after a check that failed', async () => {
    await clock.advance(PAUSE_MS - 1)
    assert.equal(running.length, 0)
    await clock.advance(1)
    assert.equal(running.length, 1)
    running[0]!.reject(new Error('no route'))
    await clock.advance(PAUSE_MS)
    assert.equal(running.length, 2)
  })

  it('checks soon after a change, once for several', async () => {
    checks.again()
    await clock.advance(REACH_SETTLE_MS - 1)
    checks.again()
    await clock.advance(REACH_SETTLE_MS - 1)
    assert.equal(running.length, 0)
    await clock.advance(1)
    assert.equal(running.length, 1)
  })

  it('checks although something changes all the time, as where a peer sends its addresses again and again', async () => {
    checks.again()
    const everyMs = REACH_SETTLE_MS - 1
    for (let ms = 0; ms < REACH_SETTLE_MS + REACH_SETTLE_MS_MAX; ms += everyMs) {
      assert.equal(running.length, 0)
      await clock.advance(everyMs)
      checks.again()
    }
    assert.equal(running.length, 1)
    await end(0)
    for (let ms = 0; ms <= REACH_SETTLE_MS + REACH_SETTLE_MS_MAX; ms += everyMs) {
      await clock.advance(everyMs)
      checks.again()
    }
    assert.equal(running.length, 2)
  })

  it('repeats a check during which something changed, and never runs two', async () => {
    await clock.advance(PAUSE_MS)
    checks.again(0)
    await clock.advance(PAUSE_MS)
    assert.equal(running.length, 1)
    await end(0)
    await clock.advance(REACH_SETTLE_MS)
    assert.equal(running.length, 2)
    await end(1)
    await clock.advance(PAUSE_MS - 1)
    assert.equal(running.length, 2)
  })

  it('tells the running check of the end, and starts no other', async () => {
    await clock.advance(PAUSE_MS)
    checks.stop()
    assert.equal(signals[0]?.aborted, true)
    checks.again(0)
    await end(0)
    await clock.advance(2 * PAUSE_MS)
    assert.equal(running.length, 1)
  })

  it('starts again while the last check before the end still runs', async () => {
    await clock.advance(PAUSE_MS)
    checks.stop()
    checks.start(0)
    await clock.advance(PAUSE_MS)
    assert.equal(running.length, 1)
    await end(0)
    await clock.advance(REACH_SETTLE_MS)
    assert.equal(running.length, 2)
    assert.equal(signals[1]?.aborted, false)
  })
})
