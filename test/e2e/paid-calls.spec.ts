import assert from 'node:assert/strict'
import { handler, SoukError, systemClock } from '../../lib/index.ts'
import type { Chain } from '../../lib/interface/chain.ts'
import type { Store } from '../../lib/interface/store.ts'
import { createChannelScheme } from '../../lib/pay/channel-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { PAYOUT, PlayChain } from '../helpers/scheme-bench.ts'

const USDC = 1_000_000n

/** Real nodes over real sockets; only the chain is simulated. */
describe('paid calls between nodes', () => {
  const play = new PlayChain(systemClock)
  let testnet: Testnet
  let owner: Store
  let consumer: Store

  const paymentScheme = (n: number) => {
    const signer = keySigner(new Uint8Array(32).fill(n))
    play.wallets.set(signer.address, 10n * USDC)
    return createChannelScheme({
      chain: play.chain as Chain,
      signer,
      settlement: (init) => play.settlement(init)
    })
  }

  before(async () => {
    testnet = await createTestnet({ nodes: 2, options: (index) => ({ paymentScheme: paymentScheme(index + 1) }) })
    owner = testnet.nodes[0]!.souk.store
    consumer = testnet.nodes[1]!.souk.store
    const echo = handler(({ body }) => {
      if (body === 'fail') throw new SoukError('upstream_invalid_response')
      return { echo: body }
    })
    await testnet.nodes[0]!.souk.serve({ name: 'echo', price: '0.0015', payout: PAYOUT }, echo)
  })
  after(() => testnet.stop())

  it('are charged, proven and booked on both sides, but not if they fail', async () => {
    const { souk } = testnet.nodes[1]!
    const reply = await souk.call({ api: 'echo', body: { hello: 1 } })
    assert.deepEqual(await reply.json(), { echo: { hello: 1 } })
    assert.equal(reply.charged, 1_500n)
    assert.ok(reply.receipt.length > 0)
    await assert.rejects(souk.call({ api: 'echo', body: 'fail' }), { code: 'upstream_invalid_response' })
    const replies = await Promise.all(Array.from({ length: 200 }, () => souk.call({ api: 'echo', body: 1 })))
    assert.ok(replies.every(({ charged, receipt }) => charged === 1_500n && receipt.length > 0))
    assert.equal(play.channels.size, 1)
    const [channelId] = play.channels.keys()
    assert.equal(await owner.ledger.balance(`earned/${channelId}`), -1_500n * 201n)
    await eventually('the payer’s books to be written', 5_000, async () =>
      (await consumer.ledger.balance(`spent/${channelId}`)) === 1_500n * 201n ? true : undefined
    )
  })

  it('are rejected above the price limit of the call', async () => {
    const calling = testnet.nodes[1]!.souk.call({ api: 'echo', body: 1, maxPrice: '0.001' })
    await assert.rejects(calling, { code: 'price_exceeds_limit' })
  })

  it('end with equal books over a relay, also when it stops under them', async () => {
    const relays = await createTestnet({ nodes: 2 })
    try {
      const [seller, buyer] = [
        await relays.add({ listen: [], paymentScheme: paymentScheme(11) }),
        await relays.add({ listen: [], paymentScheme: paymentScheme(12) })
      ]
      await seller.souk.serve(
        { name: 'far', price: '0.0015', payout: PAYOUT },
        handler(() => 'sold')
      )
      const held = () => seller.souk.status().reachability.relays
      await eventually('two relays', 10_000, () => (held().length === 2 ? true : undefined))
      const before = new Set(play.channels.keys())
      await eventually('the first call', 10_000, () => buyer.souk.call({ api: 'far', body: 0 }).catch(() => undefined))
      const link = buyer.libp2p.getConnections(seller.libp2p.peerId).map(({ remoteAddr }) => remoteAddr.toString())
      assert.match(link.join(), /p2p-circuit/)
      const calls = Array.from({ length: 200 }, () => buyer.souk.call({ api: 'far', body: 1 }))
      const used = relays.nodes.find(({ souk }) => link.join().includes(`${souk.status().peer}/p2p-circuit`))
      await Promise.race(calls)
      await used?.stop()
      const results = await Promise.allSettled(calls)
      const paid = results.filter(({ status }) => status === 'fulfilled').length
      assert.equal(paid, calls.length)
      const [channelId] = [...play.channels.keys()].filter((id) => !before.has(id))
      assert.equal(await seller.souk.store.ledger.balance(`earned/${channelId}`), -1_500n * BigInt(paid + 1))
      await eventually('the payer’s books to be written', 5_000, async () =>
        (await buyer.souk.store.ledger.balance(`spent/${channelId}`)) === 1_500n * BigInt(paid + 1) ? true : undefined
      )
    } finally {
      await relays.stop()
    }
  })
})
