import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { outdatedTerms } from '../../../lib/base/outdated-terms.ts'
import { handler } from '../../../lib/owner/handler.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { A, answered, B, ConsumerBench } from './consumer-bench.ts'

describe('a call for outdated terms', () => {
  let bench: ConsumerBench

  beforeEach(() => {
    bench = new ConsumerBench()
    bench.found = [[A]]
  })

  /** The owner has newer terms; the next lookup finds them. */
  function changes(price: bigint, before: () => void = () => undefined): void {
    bench.owners = {
      [A]: async ({ revision }) => {
        if (revision >= 5) return answered()
        before()
        bench.manifest = { ...bench.manifest, revision: 5, price }
        return { fate: 'not_accepted', error: outdatedTerms(5) }
      }
    }
  }

  it('is looked up again at once, and goes on at the new price within its limit', async () => {
    changes(2_000n)
    const reply = await bench.call({ maxPrice: '0.002' })
    assert.equal(reply.price, 2_000n)
    assert.deepEqual(bench.triedOwners(), [A, A])
    assert.deepEqual(
      bench.orders.map(({ price, revision }) => [price, revision]),
      [
        [1_500n, 4],
        [2_000n, 5]
      ]
    )
    assert.deepEqual(bench.reports, ['A ok in 5'])
  })

  it('tells the caller the new price before it is paid', async () => {
    changes(2_000n)
    const told: bigint[] = []
    await bench.call({ onPrice: (price) => void told.push(price) })
    assert.deepEqual(told, [1_500n, 2_000n])
  })

  it('says old and new price if the new one is above its limit', async () => {
    changes(3_000n)
    await assert.rejects(bench.call({ maxPrice: '0.002' }), (error) => {
      assert.ok(isSoukError(error))
      assert.equal(error.code, 'price_exceeds_limit')
      assert.match(error.message, /from 0\.0015 to 0\.003 USDC.*limit is 0\.002 USDC/)
      return true
    })
    assert.equal(bench.orders.length, 1)
  })

  it('looks up a price above its limit again, because it may be lower now', async () => {
    bench.owners = { [A]: answered() }
    const { call } = bench
    const newest = { ...bench.manifest, revision: 5, price: 900n }
    const lookUp = bench.lookUps.push.bind(bench.lookUps)
    bench.lookUps.push = (...options) => {
      if (options[0]?.refresh === true) bench.manifest = newest
      return lookUp(...options)
    }
    assert.equal((await call.call(bench, { maxPrice: '0.001' })).price, 900n)
  })

  it('looks an API up again only sometimes if its callers repeat a refused call', async () => {
    for (let calls = 0; calls < 50; calls++) {
      await assert.rejects(bench.call({ maxPrice: '0.001' }), { code: 'price_exceeds_limit' })
    }
    const again = bench.lookUps.filter(({ refresh }) => refresh === true)
    assert.equal(again.length, 2)
  })

  it('ends with a refusal if the new terms cannot be found, without asking the owner again and again', async () => {
    bench.found = [[A, B]]
    bench.owners = { [A]: { fate: 'not_accepted', error: outdatedTerms(9) } }
    await assert.rejects(bench.call(), { code: 'payment_required', message: /terms of this API have changed/ })
    assert.deepEqual(bench.triedOwners(), [A, A])
  })

  describe('between real nodes', () => {
    let testnet: Testnet
    const adapter = () => handler(() => 'fine')

    before(async () => (testnet = await createTestnet({ nodes: 2 })))
    after(() => testnet.stop())

    it('sees a raised price, a lowered price and a removal at once', async () => {
      const [owner, consumer] = testnet.nodes
      assert.ok(owner !== undefined && consumer !== undefined)
      const call = (maxPrice: string) => consumer.souk.call({ api: 'moving', body: {}, maxPrice })
      await owner.souk.serve({ name: 'moving', price: '0' }, adapter())
      assert.equal((await call('1')).price, 0n)
      await owner.souk.serve({ name: 'moving', price: '0', description: 'new words' }, adapter())
      assert.equal((await call('1')).price, 0n)
      await owner.souk.serve(
        { name: 'moving', price: '0', payPerCall: false, plans: [{ id: 'all', fee: '0' }] },
        adapter()
      )
      await assert.rejects(call('1'), { code: 'subscription_required' })
      await owner.souk.serve({ name: 'moving', price: '0' }, adapter())
      assert.equal((await call('1')).price, 0n)
      await owner.souk.remove('moving')
      await assert.rejects(call('1'), { code: /api_not_found|owner_unreachable/ })
    })
  })
})
