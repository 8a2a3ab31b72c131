import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { Documents } from '../../../lib/interface/store.ts'
import { DailySpend } from '../../../lib/plans/daily-spend.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'

const CAP = 1_000n

describe('the daily cap of a subscription', () => {
  let documents: Documents
  let now = 0
  const clock = { now: () => now }
  beforeEach(async () => {
    now = 5 * DAY_MS
    const store = createMemoryStore()
    await store.open()
    documents = store.documents
  })

  it('covers all calls of a day, and resets the next day', async () => {
    const spend = new DailySpend(documents, clock)
    for (let i = 0; i < 10; i++) (await spend.allow('s', CAP, 100n)).end(100n)
    await assert.rejects(spend.allow('s', CAP, 1n), { code: 'spend_cap_reached', members: { subscription: 's' } })
    now += DAY_MS
    await spend.allow('s', CAP, 1_000n)
  })

  it('counts the charged amount after a call, not the promised one', async () => {
    const spend = new DailySpend(documents, clock)
    const first = await spend.allow('s', CAP, 600n)
    await assert.rejects(spend.allow('s', CAP, 600n), { code: 'spend_cap_reached' })
    first.end(100n)
    await spend.allow('s', CAP, 600n)
  })

  it('does not apply without a cap or for free calls', async () => {
    const spend = new DailySpend(documents, clock)
    await spend.allow('s', undefined, 10n ** 15n)
    await spend.allow('s', 0n, 0n)
    assert.deepEqual(await documents.list('subscription-days'), [])
  })

  it('gets back the unspent lease of a process that stops', async () => {
    const first = new DailySpend(documents, clock)
    const [call, other] = [await first.allow('s', CAP, 10n), await first.allow('s', CAP, 10n)]
    call.end(5n)
    await first.stop()
    other.end(0n)
    const second = new DailySpend(documents, clock)
    await assert.rejects(second.allow('s', CAP, 986n), { code: 'spend_cap_reached' })
    await second.allow('s', CAP, 985n)
    await assert.rejects(first.allow('s', CAP, 11n), { code: 'spend_cap_reached' })
    await first.allow('s', CAP, 10n)
  })

  it('is never exceeded: not by concurrent calls, other processes, restarts, or a clock that is set back', async () => {
    const amounts = fc.array(
      fc.record({
        process: fc.nat(1),
        amount: fc.bigInt(1n, 400n),
        restarts: fc.constantFrom('no', 'killed', 'stopped')
      }),
      {
        minLength: 1,
        maxLength: 30
      }
    )
    await fc.assert(
      fc.asyncProperty(amounts, async (calls) => {
        const store = createMemoryStore()
        await store.open()
        const processes = [0, 1].map(() => new DailySpend(store.documents, clock))
        const spent = await Promise.all(
          calls.map(async ({ process, amount, restarts }) => {
            if (restarts === 'stopped') await processes[process]?.stop()
            if (restarts !== 'no') processes[process] = new DailySpend(store.documents, clock)
            const allowed = await processes[process]?.allow('s', CAP, amount).catch(() => undefined)
            allowed?.end(amount)
            return allowed === undefined ? 0n : amount
          })
        )
        assert.ok(spent.reduce((sum, each) => sum + each, 0n) <= CAP)
      })
    )
  })
})
