import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { createMemoryStore, limits } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
import { ACCOUNT, booksOf, deposit, startSpender, type Spender } from './bench.ts'

const USDC = 1_000_000n

describe('a prepaid account', () => {
  let clock: ManualClock
  let store: Store
  let spender: Spender

  beforeEach(async () => {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    spender = await startSpender(store, clock, 'first')
  })

  async function drain(price: bigint, at = spender): Promise<number> {
    for (let calls = 0; ; calls++) if (!(await at.spend(price))) return calls
  }

  it('pays for calls while the balance covers the price', async () => {
    await deposit(store, USDC)
    assert.equal(await drain(30_000n), 33)
    assert.deepEqual((await booksOf(store)).sold, 990_000n)
    await spender.stop()
    assert.deepEqual(await booksOf(store), { free: 10_000n, leased: 0n, sold: 990_000n })
  })

  it('reports its balance when that is too low', async () => {
    await deposit(store, 5_000n)
    await assert.rejects(async () => spender.funds.reserve(ACCOUNT, 5_001n), {
      code: 'insufficient_funds',
      members: { balance: '0.005', top_up: '/v1/account/deposits' }
    })
    assert.equal(await spender.spend(5_000n), true)
  })

  it('reports a low balance once, and again after a top-up', async () => {
    await deposit(store, limits.ACCOUNT_LOW_ATOMS + 100_000n)
    assert.equal(await spender.spend(10_000n), true)
    assert.deepEqual(spender.low, [])
    await drain(10_000n)
    assert.equal(spender.low.length, 1)
    assert.ok((spender.low[0] ?? 0n) < limits.ACCOUNT_LOW_ATOMS)
    await deposit(store, limits.ACCOUNT_LOW_ATOMS)
    await drain(10_000n)
    assert.equal(spender.low.length, 2)
  })

  it('is charged the cost of a call, and nothing for a failed call', async () => {
    await deposit(store, 10_000n)
    for (let i = 0; i < 5; i++) assert.equal(await spender.spend(10_000n, 0n), true)
    assert.equal(await spender.spend(10_000n, 4_000n), true)
    assert.equal(await spender.spend(10_000n), false)
    assert.equal((await booksOf(store)).sold, 4_000n)
  })

  it('is charged once if the same call is charged twice', async () => {
    await deposit(store, 10_000n)
    for (const _ of [1, 2]) {
      await spender.funds.reserve(ACCOUNT, 3_000n)
      await spender.funds.charge(ACCOUNT, 3_000n, 'the same call')
    }
    await spender.stop()
    assert.deepEqual(await booksOf(store), { free: 7_000n, leased: 0n, sold: 3_000n })
  })

  it('reserves most calls without a store access', async () => {
    await deposit(store, 100n * USDC)
    await spender.spend(1_000n)
    let atOnce = 0
    for (let i = 0; i < 1_000; i++) {
      const reserving = spender.funds.reserve(ACCOUNT, 1_000n)
      if (reserving === undefined) atOnce++
      else await reserving
      await settle(1)
    }
    assert.ok(atOnce > 990, `${atOnce} of 1000`)
  })

  it('is not leased by a process that does not use it', async () => {
    const other = await startSpender(store, clock, 'second')
    await deposit(store, USDC)
    await other.spend(10_000n)
    const first = await drain(10_000n)
    assert.ok(first < 99, 'the other holds a lease')
    await clock.advance(limits.SLICE_IDLE_MS * 3)
    assert.equal(first + (await drain(10_000n)) + 1, 100)
  })

  it('gets the lease of a killed process back when that process restarts', async () => {
    await deposit(store, USDC)
    assert.ok(await spender.spend(10_000n))
    await spender.funds.reserve(ACCOUNT, 10_000n)
    assert.ok((await booksOf(store)).leased > 0n)
    await startSpender(store, clock, 'first')
    assert.deepEqual(await booksOf(store), { free: USDC - 10_000n, leased: 0n, sold: 10_000n })
  })

  it('gets the lease of a killed process back through another process', async () => {
    const killed = await startSpender(store, manualClock(), 'killed')
    await deposit(store, USDC)
    assert.ok(await killed.spend(10_000n))
    await clock.advance(limits.HOLDER_MS + 2 * limits.HOLDER_BEAT_MS)
    assert.deepEqual(await booksOf(store), { free: USDC - 10_000n, leased: 0n, sold: 10_000n })
    assert.equal(await drain(10_000n), 99)
  })

  it('is not overdrawn by a live process that was assumed dead', async () => {
    const asleep = await startSpender(store, manualClock(), 'asleep')
    await deposit(store, USDC)
    for (let i = 0; i < 3; i++) await asleep.funds.reserve(ACCOUNT, 10_000n)
    await clock.advance(limits.HOLDER_MS + 2 * limits.HOLDER_BEAT_MS)
    // The remaining balance pays only the first of the accepted calls.
    assert.ok(await spender.spend(985_000n))
    await asleep.funds.charge(ACCOUNT, 10_000n, 'a')
    await spender.stop()
    await asleep.funds.charge(ACCOUNT, 10_000n, 'b')
    await asleep.funds.charge(ACCOUNT, 10_000n, 'c')
    const { free, leased, sold } = await booksOf(store)
    assert.equal(free + leased + sold, USDC)
    assert.ok(asleep.warnings.length >= 2)
    assert.equal(await asleep.spend(1n), free > 0n)
  })

  it('keeps a lease while its process reports that it is alive', async () => {
    const other = await startSpender(store, clock, 'second')
    await deposit(store, USDC)
    await other.funds.reserve(ACCOUNT, 10_000n)
    const { leased } = await booksOf(store)
    await clock.advance(limits.HOLDER_MS * 3)
    await other.funds.charge(ACCOUNT, 10_000n, 'late')
    assert.ok(leased > 0n)
    assert.deepEqual([(await booksOf(store)).sold, other.warnings], [10_000n, []])
  })

  it('keeps the lease of a process on a machine with another time', async () => {
    await deposit(store, USDC)
    for (const hours of [-1, 1]) {
      const elsewhere = { ...clock, now: () => clock.now() + hours * 3_600_000 }
      const other = await startSpender(store, elsewhere, `${hours} h`)
      await other.funds.reserve(ACCOUNT, USDC)
      await clock.advance(limits.HOLDER_MS * 3)
      assert.equal((await booksOf(store)).leased, USDC)
      other.funds.release(ACCOUNT, USDC)
      await other.stop()
    }
  })

  it('is exact to the atom under random operations and kills', async () => {
    const step = fc.record({
      process: fc.nat({ max: 2 }),
      does: fc.constantFrom('spend', 'spend', 'spend', 'fail', 'part', 'kill', 'stop', 'wait', 'deposit'),
      amount: fc.bigInt({ min: 1n, max: 200_000n })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const shared = createMemoryStore()
        await shared.open()
        const start = (n: number) => startSpender(shared, manualClock(), `process ${n}`)
        const spenders = await Promise.all([0, 1, 2].map(start))
        let [deposited, charged] = [0n, 0n]
        const all: Spender[] = [...spenders]
        for (const { process: n, does, amount } of steps) {
          const at = spenders[n]!
          if (does === 'deposit') {
            deposited += amount
            await deposit(shared, amount)
          } else if (does === 'kill' || does === 'stop') {
            if (does === 'stop') await at.stop()
            all.push((spenders[n] = await start(n)))
          } else if (does !== 'wait') {
            const cost = does === 'spend' ? amount : does === 'part' ? amount / 2n : 0n
            if (await at.spend(amount, cost)) charged += cost
          }
        }
        assert.deepEqual(
          all.flatMap(({ warnings }) => warnings),
          []
        )
        await Promise.all(spenders.map((one) => one.stop()))
        await Promise.all([0, 1, 2].map(start))
        assert.deepEqual(await booksOf(shared), { free: deposited - charged, leased: 0n, sold: charged })
      }),
      { numRuns: 60 }
    )
  })
})
