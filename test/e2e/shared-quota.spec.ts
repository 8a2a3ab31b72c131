import assert from 'node:assert/strict'
import { createPostgresStore, handler, isSoukError, type SoukNode } from '../../lib/index.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'

const INCLUDED = 400
const WORKERS = 12

describe('two owner replicas and two consumers of one subscription, on one PostgreSQL', () => {
  let postgres: TestPostgres
  let testnet: Testnet
  let reached = 0

  before(async () => {
    postgres = await startPostgres()
    const [owners, consumers] = [await postgres.create(), await postgres.create()]
    testnet = await createTestnet({
      nodes: 4,
      options: (index) =>
        index < 2
          ? { sharedStore: createPostgresStore({ url: owners }) }
          : { store: createPostgresStore({ url: consumers }) }
    })
    const [provider, replica] = testnet.nodes as [SoukNode, SoukNode]
    // One call in ten fails. It reserves quota while it runs, then returns it.
    const api = handler(({ body }) => {
      if (Number(body) % 10 === 0) throw new Error('this one fails')
      reached++
      return body
    })
    const plans = [{ id: 'basic', included: INCLUDED }]
    const { signed } = await provider.souk.serve({ name: 'echo', price: '0', plans }, api)
    await provider.souk.delegate(replica.libp2p.peerId.toString())
    await replica.souk.serveReplica(signed.id, api)
  })
  after(async () => {
    await testnet?.stop()
    await postgres?.stop()
  })

  it('allow exactly the included calls under concurrent load', async () => {
    const [provider, replica, first, second] = testnet.nodes as [SoukNode, SoukNode, SoukNode, SoukNode]
    const peers = [second.libp2p.peerId.toString()]
    const { subscription } = await first.souk.subscriptions.subscribe({
      api: 'echo',
      plan: 'basic',
      maxPrice: '0',
      peers
    })
    let succeeded = 0
    let next = 0
    const work = async ({ souk }: SoukNode) => {
      for (;;) {
        try {
          await souk.call({ api: 'echo', body: next++, subscription: subscription.id })
          succeeded++
        } catch (error) {
          if (isSoukError(error) && error.code === 'quota_exceeded') return
          if (!isSoukError(error) || error.code !== 'internal_error') throw error
        }
      }
    }
    await Promise.all([first, second].flatMap((node) => Array.from({ length: WORKERS }, () => work(node))))
    assert.deepEqual([succeeded, reached], [INCLUDED, INCLUDED])
    const usage = await Promise.all([provider, replica].map(({ souk }) => souk.store.calls.usage()))
    const captured = usage.map((rows) => rows.reduce((sum, row) => sum + row.captured, 0))
    // The purchase of the subscription is a call too.
    assert.equal(
      captured.reduce((sum, each) => sum + each, 0),
      INCLUDED + 1
    )
    assert.ok(
      captured.every((each) => each > 0),
      `one owner served no calls: ${captured.join(' and ')}`
    )
  })

  it('list the subscription at the owner that sold it', async () => {
    const [provider, replica, first] = testnet.nodes as [SoukNode, SoukNode, SoukNode]
    const [sold] = await first.souk.subscriptions.list()
    const seller = provider.libp2p.peerId.toString() === sold?.owner ? provider : replica
    const { subscriptions } = await seller.souk.subscriptions.sold({ limit: 10 })
    assert.deepEqual(
      subscriptions.map(({ id }) => id),
      [sold?.id]
    )
  })

  it('return unused quota when an owner stops, so that no call is lost', async () => {
    const [provider, replica, , consumer] = testnet.nodes as [SoukNode, SoukNode, SoukNode, SoukNode]
    const plan = { api: 'echo', plan: 'basic', maxPrice: '0' }
    const { subscription } = await consumer.souk.subscriptions.subscribe(plan)
    const seller = provider.libp2p.peerId.toString() === subscription.owner ? provider : replica
    const order = { api: 'echo', body: 1, subscription: subscription.id }
    await consumer.souk.call(order)
    await seller.stop()
    const before = reached
    const callOn = async (): Promise<never> => {
      for (;;) await consumer.souk.call(order)
    }
    await assert.rejects(callOn(), { code: 'quota_exceeded' })
    assert.equal(reached - before, INCLUDED - 1)
  })
})
