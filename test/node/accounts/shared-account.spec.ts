import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createPostgresStore, systemClock } from '../../../lib/index.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'
import { booksOf, deposit, startTill } from './bench.ts'

const SPENDER = fileURLToPath(new URL('../../helpers/spend-until-killed.ts', import.meta.url))
const BALANCE = 1_500_000n
const PRICE = 1_000n
const WORKERS = 16
const CALLS_BEFORE_KILL_MAX = 300

describe('an account that processes share through PostgreSQL', function () {
  this.timeout(90_000)
  let postgres: TestPostgres | undefined
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  /** The references it promised, of whole lines only; killed after as many as asked. What it had asked the database for is done. */
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

  it('is spent to the last atom and not one more, whichever process is killed on the way', async () => {
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
    // What the killed ones held is there again for whoever starts under their names.
    for (const holder of ['two', 'three']) {
      const till = await startTill(store, systemClock, holder)
      const spendAll = async () => {
        while (await till.spend(PRICE));
      }
      await Promise.all(Array.from({ length: WORKERS }, spendAll))
      assert.deepEqual(till.warnings, [])
      await till.stop()
    }
    assert.deepEqual(await booksOf(store), { free: 0n, leased: 0n, sold: BALANCE })
    const charges = await store.ledger.entries({ limit: 10_000, kinds: ['charge/acct_1'] })
    assert.equal(BigInt(charges.length) * PRICE, BALANCE)
    const booked = new Set(charges.map(({ reference }) => reference))
    assert.deepEqual(
      promised.filter((reference) => !booked.has(reference)),
      [],
      'what was promised is booked'
    )
    await store.close()
  })

  it('is given back by another process what a killed one held', async () => {
    const url = await postgres!.create()
    const store = createPostgresStore({ url })
    await store.open()
    await deposit(store, BALANCE)
    await spendUntil(url, 'killed', 10)
    const { sold, leased } = await booksOf(store)
    assert.ok(leased > 0n)
    // As if a day had passed since it was heard of.
    const later = { ...systemClock, now: () => Date.now() + 86_400_000 }
    const till = await startTill(store, later, 'other')
    assert.deepEqual(await booksOf(store), { free: BALANCE - sold, leased: 0n, sold })
    await till.stop()
    await store.close()
  })
})
