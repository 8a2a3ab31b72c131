import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { limits } from '../../../lib/index.ts'
import type { Documents } from '../../../lib/interface/index.ts'
import { type CapLevel, DailyCaps } from '../../../node/spending/daily-caps.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
import { memoryDocuments } from '../ingress/harness.ts'

const CAP = 1_000_000n
const KEY = { id: 'key_1', label: '', hint: '', maxPrice: CAP, dailyCap: CAP }

describe('the daily cap of a key', () => {
  let clock: ManualClock
  let documents: Documents
  let caps: DailyCaps

  beforeEach(() => {
    clock = manualClock()
    documents = memoryDocuments()
    caps = new DailyCaps({ clock, documents })
  })

  const spend = async (amount: bigint, at = caps): Promise<void> => at.reserve(at.today(KEY), amount)
  /** Makes calls until the cap rejects one. Returns the number of accepted calls. */
  async function drain(price: bigint, at = caps): Promise<number> {
    for (let calls = 0; ; calls++) {
      const refusal = await spend(price, at).catch((error: unknown) => error)
      if (refusal === undefined) continue
      assert.equal((refusal as { code?: string }).code, 'spend_cap_reached')
      return calls
    }
  }

  it('allows exactly its amount, and reports the rest and the time of the reset', async () => {
    assert.equal(await drain(30_000n), 33)
    await assert.rejects(spend(30_000n), {
      code: 'spend_cap_reached',
      members: { left: '0.01', resets_at: '2026-01-03T00:00:00.000Z' }
    })
    await spend(10_000n)
    await assert.rejects(spend(1n), { code: 'spend_cap_reached' })
  })

  it('reports once a day that most of it is spent, and once that a call was rejected, across processes', async () => {
    const told: string[] = []
    const onLevel = ({ day, left, isReached }: CapLevel) => {
      told.push(`${day.key} ${isReached ? 'reached' : 'nearly'} ${left}`)
    }
    const [first, second] = [1, 2].map(() => new DailyCaps({ clock, documents, onLevel }))
    for (let i = 0; i < 8; i++) await spend(100_000n, first)
    assert.deepEqual(told, [])
    await spend(90_000n, first)
    await spend(10_000n, second)
    await spend(20_000n, first)
    await settle()
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /^key_1 nearly \d+$/)
    for (const at of [first, second, first]) await assert.rejects(spend(500_000n, at), { code: 'spend_cap_reached' })
    await settle()
    assert.equal(told.length, 2)
    assert.match(told[1] ?? '', /^key_1 reached \d+$/)
    await clock.advance(limits.DAY_MS)
    await assert.rejects(spend(CAP + 1n, second), { code: 'spend_cap_reached' })
    await settle()
    assert.equal(told.length, 3, 'each day has its own cap')
  })

  it('holds under concurrent calls', async () => {
    const results = await Promise.allSettled(Array.from({ length: 60 }, () => spend(30_000n)))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 33)
  })

  it('frees the part that calls were not charged', async () => {
    const day = caps.today(KEY)
    assert.equal(await drain(100_000n), 10)
    caps.release(day, 60_000n)
    assert.equal(await drain(20_000n), 3)
  })

  it('needs no store access for most calls', async () => {
    await spend(1_000n)
    await settle()
    let atOnce = 0
    for (let i = 0; i < 200; i++) {
      const reserving = caps.reserve(caps.today(KEY), 1_000n)
      if (reserving === undefined) atOnce++
      else await reserving
      await settle(1)
    }
    assert.ok(atOnce > 190, `${atOnce} of 200`)
  })

  it('resets with the day, but not when the clock is set back', async () => {
    assert.equal(await drain(100_000n), 10)
    await clock.advance(limits.DAY_MS)
    assert.equal(await drain(100_000n), 10)
    const before = new DailyCaps({ clock: manualClock(clock.now() - limits.DAY_MS), documents })
    assert.equal(await drain(100_000n, before), 0)
  })

  it('is not reset by a restart or a kill', async () => {
    await spend(400_000n)
    await settle()
    const afterKill = new DailyCaps({ clock, documents })
    const calls = await drain(10_000n, afterKill)
    const slices = Number(limits.CAP_LEASES)
    assert.ok(calls <= 60 && calls >= 60 - 2 * Math.ceil(100 / slices), `${calls} calls after 0.4 of 1 USDC was spent`)
  })

  it('is hardly used up by a process that is killed again and again', async () => {
    for (let kills = 0; kills < 50; kills++) await spend(1_000n, new DailyCaps({ clock, documents }))
    const calls = await drain(10_000n)
    assert.ok(calls >= 75, `${calls} of 100 calls after 0.05 of 1 USDC was spent by 50 killed processes`)
  })

  it('loses nothing when a process stops gracefully', async () => {
    await spend(400_000n)
    await settle()
    await caps.stop()
    assert.equal(await drain(10_000n, new DailyCaps({ clock, documents })), 60)
  })

  it('is shared by processes, which return the unused parts', async () => {
    const other = new DailyCaps({ clock, documents })
    for (let calls = 0; calls < 2; calls++) await spend(10_000n, other)
    await settle()
    const first = await drain(10_000n)
    assert.ok(first < 98, 'the other holds a slice')
    await clock.advance(limits.SLICE_IDLE_MS * 3)
    assert.equal(first + (await drain(10_000n)) + 2, 100)
  })

  it('shows its exact rest while a part of it is being returned', async () => {
    const returning = Promise.withResolvers<void>()
    const slow: Documents = {
      ...documents,
      replace: async (...change) => {
        await returning.promise
        return documents.replace(...change)
      }
    }
    const at = new DailyCaps({ clock, documents: slow })
    await spend(1_000n, at)
    at.release(at.today(KEY), 1_000n)
    await clock.advance(limits.SLICE_IDLE_MS * 3)
    const left = at.left(KEY)
    await settle()
    returning.resolve()
    assert.equal(await left, CAP)
  })

  it('of zero rejects every priced call', async () => {
    const day = caps.today({ ...KEY, dailyCap: 0n })
    await assert.rejects(async () => caps.reserve(day, 1n), { code: 'spend_cap_reached' })
  })

  it('is never exceeded by several processes under random operations and kills', async () => {
    const step = fc.record({
      process: fc.nat({ max: 2 }),
      does: fc.constantFrom('spend', 'spend', 'spend', 'fail', 'kill', 'stop', 'wait'),
      amount: fc.bigInt({ min: 1n, max: 90_000n })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const shared = memoryDocuments()
        const time = manualClock()
        const start = () => new DailyCaps({ clock: time, documents: shared })
        const processes = [start(), start(), start()]
        let charged = 0n
        await Promise.all(
          steps.map(async ({ process: n, does, amount }) => {
            const at = processes[n]!
            if (does === 'wait') return time.advance(limits.SLICE_IDLE_MS)
            if (does === 'kill' || does === 'stop') {
              processes[n] = start()
              return does === 'stop' ? at.stop() : undefined
            }
            const day = at.today(KEY)
            const refused = await Promise.resolve(at.reserve(day, amount)).catch(() => true)
            if (refused === true) return
            if (does === 'fail') at.release(day, amount)
            else charged += amount
          })
        )
        assert.ok(charged <= CAP, `${charged} of ${CAP}`)
      }),
      { numRuns: 50 }
    )
  })
})
