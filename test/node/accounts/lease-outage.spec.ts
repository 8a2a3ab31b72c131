import assert from 'node:assert/strict'
import { createPostgresStore, limits } from '../../../lib/index.ts'
import type { Store } from '../../../lib/interface/index.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hasted } from '../../helpers/hasty-clock.ts'
import { startPostgres, type TestPostgres } from '../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../helpers/postgres-proxy.ts'
import { ACCOUNT, booksOf, deposit, startSpender, type Spender } from './bench.ts'

const BALANCE = 1_000_000n
const PRICE = 1_000n
const BOUND_MS = 30_000
/** Real PostgreSQL must be able to answer within a fraction of `STORE_WAIT_MS`, also on a slow machine. */
const clock = hasted(25)

describe('the lease of an account, whose database is away', () => {
  let postgres: TestPostgres
  let proxy: PostgresProxy
  let store: Store
  let spender: Spender

  before(async () => {
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    const url = await postgres.create()
    proxy = await proxyPostgres(url)
    store = createPostgresStore({ url: proxy.through(url), clock })
    await store.open()
    await deposit(store, BALANCE)
    spender = await startSpender(store, clock, 'spender')
  })
  afterEach(async () => {
    await spender.stop()
    await store.close()
    await proxy.close()
  })
  after(() => postgres.stop())

  const isBack = () => eventually('the database', BOUND_MS, () => store.refusal?.() === undefined || undefined)
  const isReturned = () =>
    eventually('the lease to be returned', BOUND_MS, async () => (await booksOf(store)).leased === 0n || undefined)

  it('is returned when the database is back, if that failed', async () => {
    await spender.spend(PRICE)
    assert.ok((await booksOf(store)).leased > 0n)
    proxy.outage()
    await eventually('the loss', BOUND_MS, () => store.refusal?.())
    // An idle lease is returned after twice this time at the latest.
    await new Promise<void>((resolve) => void clock.after(3 * limits.SLICE_IDLE_MS, resolve))
    proxy.release()
    await isBack()
    await isReturned()
    assert.deepEqual(await booksOf(store), { free: BALANCE - PRICE, leased: 0n, sold: PRICE })
  })

  for (const isCharged of [true, false]) {
    const words = isCharged ? 'in the books' : 'lost'
    it(`and the cap are charged exactly, if the database is away too long for a charge (${words})`, async () => {
      const caps = new DailyCaps({ clock, documents: store.documents })
      const holder = { id: 'key_1', dailyCap: BALANCE, account: ACCOUNT.id }
      const purchase = new Spending({ caps, funds: spender.funds }).begin(holder)
      await purchase.reserve(PRICE)
      // The part that the call does not need is returned before the outage, because it is idle.
      await eventually('the rest to be returned', BOUND_MS, async () => {
        const [cap] = await store.documents.list('consumer-key-spending')
        const isOfTheCall = cap !== undefined && (JSON.parse(cap.value) as { taken: string }).taken === String(PRICE)
        return (isOfTheCall && (await booksOf(store)).leased === PRICE) || undefined
      })
      proxy.interrupt('the call', { isCommitted: isCharged, clock, ms: 1.5 * limits.STORE_WAIT_MS })
      const charging = Promise.resolve(purchase.capture(PRICE, 'the call'))
      if (isCharged) await charging
      else await assert.rejects(charging, { code: 'store_unavailable', isChargeUnknown: false })
      await isBack()
      await isReturned()
      const sold = isCharged ? PRICE : 0n
      assert.deepEqual(await booksOf(store), { free: BALANCE - sold, leased: 0n, sold })
      assert.equal(await caps.left(holder), BALANCE - sold)
      await caps.stop()
    })
  }
})
