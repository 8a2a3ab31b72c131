import assert from 'node:assert/strict'
import {
  LOAD_ADMITTED_MIN,
  LOAD_CALM_MS,
  LOAD_LATE_MS,
  LOAD_LATE_TICKS,
  LOAD_TICK_MS,
  LOAD_TURN_MS_MAX
} from '../../../lib/base/limits/admission.ts'
import { LoadControl } from '../../../lib/base/load-control.ts'
import { BusyClock } from '../../helpers/busy-clock.ts'

class BusyLoop {
  readonly clock = new BusyClock()
  readonly control = new LoadControl(this.clock)

  get at(): number {
    return this.clock.elapsed()
  }

  /**
   * Runs a turn with the given milliseconds of work per admitted and per refused request. Returns the number admitted.
   */
  turn(callers: readonly string[], admittedMs: number, refusedMs = 0): number {
    let admitted = 0
    for (const caller of callers) {
      const isIn = this.control.admit(() => caller)
      if (isIn) admitted++
      this.clock.work(isIn ? admittedMs : refusedMs)
    }
    this.clock.turn()
    return admitted
  }
}

const many = (count: number, name = 'a') => Array.from({ length: count }, () => name)

describe('LoadControl', () => {
  it('admits all requests while the loop is on time', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < 50; turn++) assert.equal(loop.turn(many(1_000), 0.1), 1_000)
    assert.ok(!loop.control.isOverloaded)
  })

  it('does not treat a single long turn, or a slow machine with few requests, as overload', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(loop.turn(many(100), LOAD_LATE_MS / 50), 100)
      assert.equal(loop.turn(many(100), 0.1), 100)
    }
    for (let turn = 0; turn < 50; turn++) {
      assert.equal(loop.turn(many(LOAD_ADMITTED_MIN - 1), 100), LOAD_ADMITTED_MIN - 1)
    }
  })

  it('refuses the rest of many requests that arrive in one turn', () => {
    const loop = new BusyLoop()
    const admitted = loop.turn(many(3_000), 1)
    assert.ok(admitted > LOAD_TURN_MS_MAX && admitted < LOAD_TURN_MS_MAX + 2 * LOAD_TICK_MS, `${admitted}`)
    assert.ok(loop.control.isOverloaded)
  })

  it('sheds load when several turns are late, and keeps turns short afterwards', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) assert.equal(loop.turn(many(500), 0.5), 500)
    assert.ok(loop.control.isOverloaded)
    let admitted = 0
    const from = loop.at
    for (let turn = 0; turn < 100; turn++) {
      const before = loop.at
      admitted += loop.turn(many(500), 0.5, 0.02)
      if (turn > 20) assert.ok(loop.at - before < LOAD_LATE_MS, `a turn took ${loop.at - before} ms`)
    }
    // At least half of the loop's capacity, because refusals must not displace all work.
    assert.ok(admitted / (loop.at - from) > 0.5, `${admitted} in ${loop.at - from} ms`)
  })

  it('continues to admit requests when refusals alone make turns long', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) loop.turn(many(1_000), 0.5)
    let admitted = 0
    const from = loop.at
    for (let turn = 0; turn < 100; turn++) admitted += loop.turn(many(2_000), 0.5, 0.05)
    assert.ok(admitted / (loop.at - from) > 0.5, `${admitted} in ${loop.at - from} ms`)
  })

  it('divides its allowance equally among callers', () => {
    const loop = new BusyLoop()
    const crowd = [...many(900, 'loud'), ...many(50, 'quiet')]
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) loop.turn(crowd, 0.5)
    assert.ok(loop.control.isOverloaded)
    loop.turn(crowd, 0.5, 0.02)
    const admitted = { loud: 0, quiet: 0 }
    for (let turn = 0; turn < 20; turn++) {
      for (const caller of ['loud', 'quiet'] as const) {
        for (let at = 0; at < (caller === 'loud' ? 900 : 20); at++) {
          if (loop.control.admit(() => caller)) admitted[caller]++
        }
      }
      loop.turn([], 0)
    }
    assert.ok(admitted.quiet >= 20 * LOAD_ADMITTED_MIN * 0.5, JSON.stringify(admitted))
  })

  it('ends the overload when all requests could be admitted, also with bursts', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) loop.turn(many(500), 2)
    for (let turn = 0; turn < 100; turn++) loop.turn(many(500), 2, 0.02)
    assert.ok(loop.control.isOverloaded)
    for (let turn = 0; turn < 50; turn++) loop.turn(many(40), 2, 0.02)
    assert.equal(loop.turn(many(40), 2), 40)
    assert.ok(!loop.control.isOverloaded)
  })

  it('ends the overload after a time without refusals, and stops measuring without requests', () => {
    const loop = new BusyLoop()
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) loop.turn(many(500), 0.5)
    assert.ok(loop.control.isOverloaded)
    for (let turn = 0; turn < LOAD_CALM_MS / LOAD_TICK_MS + 1; turn++) loop.turn(many(2), 0.1)
    assert.ok(!loop.control.isOverloaded)
    loop.turn([], 0)
    assert.ok(!loop.clock.isTimed)
    assert.equal(loop.turn(many(1_000), 0.1), 1_000)
    assert.ok(loop.clock.isTimed)
  })
})
