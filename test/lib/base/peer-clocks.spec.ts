import assert from 'node:assert/strict'
import { onClockChange } from '../../../lib/base/clock-changes.ts'
import { CLOCK_CHANGE_MS, CLOCK_CHECK_MS, CLOCK_SKEW_MS } from '../../../lib/base/limits/directory.ts'
import { PeerClocks } from '../../../lib/base/peer-clocks.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]

/** A machine whose clock can be set. */
function machine() {
  const steady = manualClock()
  let setBy = 0
  const clock = { ...steady, now: () => steady.now() + setBy, elapsed: steady.elapsed, after: steady.after }
  return { clock, steady, set: (ms: number) => void (setBy += ms) }
}

describe('PeerClocks', () => {
  it('tells how far the clock is from those of most peers', () => {
    const { clock, steady } = machine()
    let heard = 0
    const clocks = new PeerClocks(clock, () => void heard++)
    assert.equal(clocks.aheadMs, undefined)
    const hear = (peer: string, aheadMs: number) => clocks.heard(peer, steady.now() - aheadMs, clock.elapsed())
    hear('a', 10 * MINUTE)
    assert.equal(clocks.aheadMs, 10 * MINUTE)
    // Where two peers disagree, neither counts.
    hear('b', 0)
    assert.equal(clocks.aheadMs, 0)
    hear('c', 11 * MINUTE)
    assert.equal(clocks.aheadMs, 10 * MINUTE)
    for (const peer of ['a', 'b', 'c']) hear(peer, -HOUR)
    assert.equal(clocks.aheadMs, -HOUR)
    for (const peer of ['a', 'b', 'c']) hear(peer, CLOCK_SKEW_MS)
    assert.equal(clocks.aheadMs, 0)
    assert.equal(heard, 9)
  })

  it('takes a slow response for what it is', async () => {
    const { clock, steady } = machine()
    const clocks = new PeerClocks(clock, () => {})
    const askedAt = clock.elapsed()
    const [early, late] = [steady.now(), steady.now() + 10 * MINUTE]
    await steady.advance(10 * MINUTE)
    for (const at of [early, late]) {
      clocks.heard('a', at, askedAt)
      assert.equal(clocks.aheadMs, 0)
    }
    clocks.heard('a', early - 6 * MINUTE, askedAt)
    assert.equal(clocks.aheadMs, 6 * MINUTE)
  })

  it('knows nothing any more once the clock was set, until a peer tells its time', () => {
    const { clock, steady, set } = machine()
    const clocks = new PeerClocks(clock, () => {})
    set(-HOUR)
    clocks.heard('a', steady.now(), clock.elapsed())
    assert.equal(clocks.aheadMs, -HOUR)
    set(HOUR)
    assert.equal(clocks.aheadMs, undefined)
    clocks.heard('a', steady.now(), clock.elapsed())
    assert.equal(clocks.aheadMs, 0)
  })
})

describe('onClockChange', () => {
  it('tells that the clock was set, or the machine slept, once for each time', async () => {
    const { clock, steady, set } = machine()
    let changes = 0
    const watch = onClockChange(clock, () => void changes++)
    await steady.advance(10 * CLOCK_CHECK_MS)
    set(CLOCK_CHANGE_MS)
    await steady.advance(CLOCK_CHECK_MS)
    assert.equal(changes, 0)
    for (const by of [CLOCK_CHANGE_MS + 1, -HOUR]) {
      set(by)
      await steady.advance(3 * CLOCK_CHECK_MS)
    }
    assert.equal(changes, 2)
    watch.cancel()
    set(HOUR)
    await steady.advance(3 * CLOCK_CHECK_MS)
    assert.equal(changes, 2)
  })
})
