import assert from 'node:assert/strict'
import { cappedDay } from '../../../lib/base/capped-day.ts'
import { DailyCap } from '../../../lib/pay/payer/daily-cap.ts'
import { DailySpend } from '../../../lib/plans/daily-spend.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const DAY = 86_400_000
const CAP = 1_000_000n
const ERROR = { code: 'spend_cap_reached' }

/** A machine whose clock can be set. */
function machine() {
  const steady = manualClock()
  let setBy = 0
  return {
    clock: { ...steady, now: () => steady.now() + setBy, elapsed: steady.elapsed, after: steady.after },
    set: (ms: number) => void (setBy += ms)
  }
}

describe('daily caps after the clock was wrong', () => {
  it('keep what was taken for a day, also where the clock was set back, and are free again on the next one', () => {
    assert.equal(cappedDay(10, 11), 11)
    // Processes that share a cap differ around midnight.
    assert.equal(cappedDay(11, 10), 11)
    assert.equal(cappedDay(12, 10), 10)
  })

  for (const restarts of [false, true]) {
    it(`of keys and subscriptions count on${restarts ? ', also over restarts' : ''}`, async () => {
      const store = createMemoryStore()
      await store.open()
      const { documents } = store
      const { clock, set } = machine()
      const open = () => ({ keys: new DailyCaps({ documents, clock }), plans: new DailySpend(documents, clock) })
      let { keys, plans } = open()
      const take = async () => {
        if (restarts) await keys.stop()
        if (restarts) ({ keys, plans } = open())
        await keys.reserve(keys.today({ id: 'k', dailyCap: CAP }), CAP)
        ;(await plans.allow('s', CAP, CAP)).end(CAP)
      }
      const isTaken = async () => {
        if (restarts) ({ keys, plans } = open())
        await assert.rejects(async () => keys.reserve(keys.today({ id: 'k', dailyCap: CAP }), CAP), ERROR)
        await assert.rejects(async () => plans.allow('s', CAP, CAP), ERROR)
      }
      set(365 * DAY)
      await take()
      set(-365 * DAY)
      await isTaken()
      for (let day = 0; day < 3; day++) {
        set(DAY)
        await take()
        await isTaken()
      }
    })
  }

  it('of the node counts on', () => {
    const { clock, set } = machine()
    const cap = new DailyCap(CAP)
    const takeAll = () => {
      for (let lease = cap.next(clock.now()); lease !== undefined; lease = cap.next(clock.now())) {
        cap.grant(lease)
        cap.spend(cap.left(clock.now()))
      }
    }
    set(30 * DAY)
    takeAll()
    set(-30 * DAY)
    assert.equal(cap.next(clock.now()), undefined)
    set(DAY)
    assert.ok((cap.next(clock.now())?.leased ?? 0n) > 0n)
  })
})
