import assert from 'node:assert/strict'
import type { Chain } from '../../../../lib/interface/chain.ts'
import type { Ledger } from '../../../../lib/interface/ledger.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { STORE_WAIT_MS } from '../../../../lib/base/limits/store.ts'
import { formatRequestId } from '../../../../lib/base/request-id.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { hasted } from '../../../helpers/hasty-clock.ts'
import { type Life, lifeBench, type LifeBench } from '../../../helpers/life-bench.ts'
import { type Mortal, mortal } from '../../../helpers/mortal.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'

const PRICE = 1_000n
/** Real PostgreSQL must be able to answer within a fraction of `STORE_WAIT_MS`, also on a slow machine. */
const clock = hasted(25)

describe('a charge that its owner takes back', () => {
  let bench: ChannelBench
  let lives: LifeBench
  let postgres: TestPostgres
  let proxy: PostgresProxy
  let store: Store
  let owner: Life
  let payer: Life
  /** Runs before each simulation of the owner. */
  let beforeSimulation: () => Promise<void>
  /** Runs before the charge is taken back in the owner's ledger. */
  let beforeBooking: () => void

  before(async () => {
    bench = await channelBench()
    postgres = await startPostgres()
  })
  after(async () => {
    await bench.close()
    await postgres.stop()
  })
  beforeEach(async () => {
    beforeSimulation = async () => {}
    beforeBooking = () => {}
    const url = await postgres.create()
    proxy = await proxyPostgres(url)
    store = createPostgresStore({ url: proxy.through(url), clock })
    lives = await lifeBench(bench)
    owner = await lives.start('D', { store, process: watched(mortal()) })
    payer = await lives.start('C', { gas: false, usdc: 1_000_000n })
    await lives.call(payer, owner, PRICE)
  })
  afterEach(async () => {
    await lives.close()
    await store.close()
    await proxy.close()
  })

  function watched(life: Mortal): Mortal {
    const chain = (of: Chain): Chain => ({
      ...of,
      simulate: async (...call) => {
        await beforeSimulation()
        return of.simulate(...call)
      }
    })
    const ledger = (of: Ledger): Ledger => ({
      ...of,
      book: (entry, documents) => {
        if (entry.kind === 'taken_back') beforeBooking()
        return of.book(entry, documents)
      }
    })
    return { ...life, chain, ledger }
  }

  /** A charge of `PRICE`: its request, and how it is taken back. */
  async function charged(): Promise<{ request: string; takeBack: () => Promise<unknown> }> {
    const call = await lives.begin(payer, owner, PRICE)
    await lives.end(payer, call)
    await lives.until('the deposit', () => {
      const { planned, unmined } = owner.paymentScheme.settlement.submitter.status()
      return planned + unmined === 0
    })
    const request = formatRequestId(call.order.requestId)
    return { request, takeBack: () => owner.paymentScheme.takeBack(payer.peer, request) }
  }
  const spent = () => lives.channel(owner).spent
  const earned = async () => -(await store.ledger.balance(`earned/${lives.channel(owner).channelId}`))

  it('stays, while a claim with it is prepared', async () => {
    const { takeBack } = await charged()
    const begun = Promise.withResolvers<void>()
    const going = Promise.withResolvers<void>()
    beforeSimulation = () => {
      begun.resolve()
      return going.promise
    }
    const settling = owner.paymentScheme.settlement.redeemer.settleNow()
    await begun.promise
    try {
      await assert.rejects(takeBack(), { code: 'settlement_pending' })
    } finally {
      going.resolve()
    }
    assert.equal((await settling).claimed, 2n * PRICE)
    await assert.rejects(takeBack(), { code: 'invalid_request' })
    assert.deepEqual([spent(), await earned()], [2n * PRICE, 2n * PRICE])
  })

  it('stays, if the database is away', async () => {
    const { takeBack } = await charged()
    beforeBooking = () => proxy.outage()
    await assert.rejects(takeBack(), { code: 'store_unavailable' })
    beforeBooking = () => {}
    assert.equal(spent(), 2n * PRICE)
    proxy.release()
    await lives.until('the database', () => store.refusal?.() === undefined)
    await takeBack()
    assert.deepEqual([spent(), await earned()], [PRICE, PRICE])
  })

  for (const [isCommitted, words] of [
    [true, 'is taken back once, if the database is away and has it'],
    [false, 'stays until it is tried again, if the database is away and does not have it']
  ] as const) {
    it(words, async () => {
      const { request, takeBack } = await charged()
      // Longer than a write waits.
      proxy.interrupt(request, { isCommitted, clock, ms: 1.5 * STORE_WAIT_MS })
      if (isCommitted) await takeBack()
      else {
        await assert.rejects(takeBack(), { code: 'store_unavailable', isChargeUnknown: false })
        assert.deepEqual([spent(), await earned()], [2n * PRICE, 2n * PRICE])
      }
      await takeBack()
      assert.deepEqual([spent(), await earned()], [PRICE, PRICE])
    })
  }
})
