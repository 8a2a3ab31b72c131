import assert from 'node:assert/strict'
import { STORE_WAIT_MS } from '../../../../lib/base/limits/store.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { hasted } from '../../../helpers/hasty-clock.ts'
import { type Life, lifeBench, type LifeBench } from '../../../helpers/life-bench.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'

const PRICE = 1_000n
/** Real PostgreSQL must be able to answer within a fraction of `STORE_WAIT_MS`, also on a slow machine. */
const clock = hasted(25)

describe('a charge whose commit got no response from the database', () => {
  let bench: ChannelBench
  let lives: LifeBench
  let postgres: TestPostgres
  let proxy: PostgresProxy
  let store: Store
  let owner: Life
  let payer: Life

  before(async () => {
    bench = await channelBench()
    postgres = await startPostgres()
  })
  after(async () => {
    await bench.close()
    await postgres.stop()
  })
  beforeEach(async () => {
    const url = await postgres.create()
    proxy = await proxyPostgres(url)
    store = createPostgresStore({ url: proxy.through(url), clock })
    lives = await lifeBench(bench)
    owner = await lives.start('D', { store })
    payer = await lives.start('C', { gas: false, usdc: 1_000_000n })
    await lives.call(payer, owner, PRICE)
    await lives.until('the deposit', () => {
      const { planned, unmined } = owner.paymentScheme.settlement.submitter.status()
      return planned + unmined === 0
    })
  })
  afterEach(async () => {
    await lives.close()
    await store.close()
    await proxy.close()
  })

  /** Ends a call in an outage that is longer than writes wait. */
  async function endInOutage(isCommitted: boolean): Promise<unknown> {
    const call = await lives.begin(payer, owner, PRICE)
    assert.equal(lives.channel(owner).reserved, PRICE)
    const text = Buffer.from(call.order.requestId).toString('hex')
    proxy.interrupt(text, { isCommitted, clock, ms: 1.5 * STORE_WAIT_MS })
    return lives.end(payer, call)
  }
  const books = async () => {
    const { channelId, spent, reserved } = lives.channel(owner)
    return { spent, reserved, earned: -(await store.ledger.balance(`earned/${channelId}`)) }
  }

  it('is booked when the database is back, if it was committed', async () => {
    await endInOutage(true)
    assert.deepEqual(await books(), { spent: 2n * PRICE, reserved: 0n, earned: 2n * PRICE })
    assert.equal(lives.channel(payer).spent, 2n * PRICE)
  })

  it('is given back when the database is back, if it was lost', async () => {
    await assert.rejects(endInOutage(false), { code: 'store_unavailable', isChargeUnknown: false })
    await lives.until('the database', () => store.refusal?.() === undefined)
    assert.deepEqual(await books(), { spent: PRICE, reserved: 0n, earned: PRICE })
  })
})
