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
})
