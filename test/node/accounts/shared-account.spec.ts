import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPostgresStore, limits, systemClock } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'
import { eventually } from '../../helpers/eventually.ts'
import { ACCOUNT, booksOf, deposit, startSpender, type Spender } from './bench.ts'

const SPENDER = fileURLToPath(new URL('../../helpers/spend-until-killed.ts', import.meta.url))
const BALANCE = 1_500_000n
const PRICE = 1_000n
const WORKERS = 16
const CALLS_BEFORE_KILL_MAX = 300

describe('an account that processes share through PostgreSQL', () => {
  let postgres: TestPostgres | undefined
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  /** Runs a spender, killed after `killAfter` charges. Resolves with its printed charge references, after its queries have ended. */
  async function spendUntil(url: string, holder: string, killAfter = Infinity): Promise<string[]> {
    const args = [...process.execArgv, SPENDER, `${url}&application_name=${holder}`, holder]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (lines.length === killAfter) child.kill('SIGKILL')
    }
    const [code, signal] = (await exit) as [number | null, string | null]
    assert.ok(code === 0 || signal === 'SIGKILL', `${holder} ended with ${code}`)
    await postgres!.gone(holder)
    return lines
  }

  /** Lets time pass for a process until it has returned the leases of silent ones. */
  async function untilReturned(store: Store, clock: ManualClock): Promise<void> {
    await eventually('the leases to be returned', 10_000, async () => {
      await clock.advance(limits.HOLDER_BEAT_MS)
      return (await booksOf(store)).leased === 0n || undefined
    })
  }

  it('is spent to the last atom and no further, with processes killed meanwhile', async () => {
    const url = await postgres!.create()
    const store = createPostgresStore({ url })
    await store.open()
    await deposit(store, BALANCE)
    const promised = (
      await Promise.all([
        spendUntil(url, 'one'),
        spendUntil(url, 'two', Math.ceil(Math.random() * CALLS_BEFORE_KILL_MAX)),
        spendUntil(url, 'three', Math.ceil(Math.random() * CALLS_BEFORE_KILL_MAX))
      ])
    ).flat()
    // A process with the name of a killed one gets its leases.
    for (const holder of ['two', 'three']) {
      const spender = await startSpender(store, systemClock, holder)
      const spendAll = async () => {
        while (await spender.spend(PRICE));
      }
      await Promise.all(Array.from({ length: WORKERS }, spendAll))
      assert.deepEqual(spender.warnings, [])
      await spender.stop()
    }
    assert.deepEqual(await booksOf(store), { free: 0n, leased: 0n, sold: BALANCE })
    const charges = await store.ledger.entries({ limit: 10_000, kinds: ['charge/acct_1'] })
    assert.equal(BigInt(charges.length) * PRICE, BALANCE)
    const booked = new Set(charges.map(({ reference }) => reference))
    assert.deepEqual(
      promised.filter((reference) => !booked.has(reference)),
      [],
      'a charge that was reported is not booked'
    )
    await store.close()
  })

  it('gets the lease of a killed process back through another process', async () => {
    const url = await postgres!.create()
    const store = createPostgresStore({ url })
    await store.open()
    await deposit(store, BALANCE)
    await spendUntil(url, 'killed', 10)
    const { sold, leased } = await booksOf(store)
    assert.ok(leased > 0n)
    const clock = manualClock()
    const spender = await startSpender(store, clock, 'other')
    await untilReturned(store, clock)
    assert.deepEqual(await booksOf(store), { free: BALANCE - sold, leased: 0n, sold })
    await spender.stop()
    await store.close()
  })

  it('loses nothing and charges nothing twice when a live process is assumed dead', async () => {
    const url = await postgres!.create()
    const [store, other] = [createPostgresStore({ url }), createPostgresStore({ url })]
    await Promise.all([store.open(), other.open()])
    await deposit(store, BALANCE)
    // Without timers, the process does not report that it is alive.
    const paused = await startSpender(store, { ...systemClock, after: () => ({ cancel() {} }) }, 'paused')
    await paused.funds.reserve(ACCOUNT, 4n * PRICE)
    const clock = manualClock()
    const alive = await startSpender(other, clock, 'alive')
    await untilReturned(other, clock)
    assert.equal((await booksOf(other)).free, BALANCE)
    // Its first unconditional write is rejected, so the process learns that it lost its leases.
    await assert.rejects(store.documents.put('things', 'a', '"old"'), { code: 'store_unavailable' })
    await eventually('it to be listed again', 5_000, () => paused.leases.isListed || undefined)
    // The running call is charged to the balance. The lease's unused part is gone.
    await paused.funds.charge(ACCOUNT, PRICE, 'under way')
    assert.equal(await paused.spend(PRICE), true)
    assert.equal(await alive.spend(PRICE), true)
    assert.deepEqual([...paused.warnings, ...alive.warnings], [])
    await alive.stop()
    await paused.stop()
    assert.deepEqual(await booksOf(store), { free: BALANCE - 3n * PRICE, leased: 0n, sold: 3n * PRICE })
    await Promise.all([store.close(), other.close()])
  })

  it('is charged once for each successful call only, while the server restarts', async () => {
    const url = await postgres!.create()
    const stores = [createPostgresStore({ url }), createPostgresStore({ url })]
    await Promise.all(stores.map((store) => store.open()))
    await deposit(stores[0]!, 100n * BALANCE)
    const spenders = await Promise.all(stores.map((store, i) => startSpender(store, systemClock, `spender ${i}`)))
    let answered = 0n
    const over = new AbortController()
    const work = async (spender: Spender) => {
      while (!over.signal.aborted) {
        try {
          if (await spender.spend(PRICE)) answered++
        } catch (error) {
          // Reservations may fail, but charges after a call never do.
          assert.match(String(error), /store_unavailable/)
          await pause(10)
        }
      }
    }
    const working = Promise.all(spenders.flatMap((spender) => Array.from({ length: WORKERS }, () => work(spender))))
    for (const how of ['fast', 'immediate'] as const) {
      const before = answered
      await eventually('calls', 20_000, () => answered > before + 100n || undefined)
      await postgres!.halt(how)
      await eventually('the loss to be noticed', 20_000, () => stores.every((store) => store.refusal?.()) || undefined)
      for (const spender of spenders) await assert.rejects(spender.spend(PRICE), /store_unavailable/)
      await postgres!.resume()
    }
    const before = answered
    await eventually('calls', 5_000, () => answered > before || undefined)
    over.abort()
    await working
    for (const spender of spenders) {
      assert.deepEqual(spender.warnings, [])
      await spender.stop()
    }
    const { free, leased, sold } = await booksOf(stores[0]!)
    assert.deepEqual(
      { free, leased, sold },
      { free: 100n * BALANCE - answered * PRICE, leased: 0n, sold: answered * PRICE }
    )
    await Promise.all(stores.map((store) => store.close()))
  })
})
