import assert from 'node:assert/strict'
import { handler } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/index.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { actor } from '../helpers/chain.ts'
import { type ChannelBench, channelBench } from '../helpers/channel-bench.ts'

const PRICE = 40_000n
const EARNED = (PRICE * 95n) / 100n

/** A splitter's address does not reveal its payout address, so an owner must know it for as long as there are earnings. */
describe('earnings of a payout address', () => {
  let bench: ChannelBench
  let testnet: Testnet
  const paymentSchemes: ChannelScheme[] = []
  const signers = [81, 82].map((byte) => keySigner(new Uint8Array(32).fill(byte)))
  const payouts = ['first payout', 'second payout', 'third payout'].map(
    (name) => actor(name).address.toLowerCase() as Address
  )
  const [first, second, third] = payouts as [Address, Address, Address]

  const owner = () => testnet.nodes[0]!.souk
  const serve = (payout: Address) =>
    owner().serve(
      { name: 'echo', price: '0.04', payout },
      handler(({ body }) => body)
    )
  const call = async () => {
    const { charged } = await testnet.nodes[1]!.souk.call({ api: 'echo', body: 1 })
    assert.equal(charged, PRICE)
  }
  const settle = () => paymentSchemes[0]!.settlement.redeemer.settleNow()

  before(async () => {
    bench = await channelBench()
    await bench.client.setAutomine(true)
    await bench.fundGas(signers[0]!.address)
    await bench.mint(signers[1]!.address, 5_000_000n)
    testnet = await createTestnet({
      nodes: 2,
      options: (index) => ({
        paymentScheme: (components) => {
          const made = createChannelScheme({ chain: bench.chain, signer: signers[index]! })(components)
          paymentSchemes.push(made)
          return made
        }
      })
    })
  })
  after(async () => {
    await testnet?.stop()
    await bench?.close()
  })

  it('are paid out there after the provider has set another address', async () => {
    for (const payout of [first, second]) {
      await serve(payout)
      await call()
    }
    await settle()
    assert.deepEqual(await Promise.all([first, second].map((payout) => bench.usdc(payout))), [EARNED, EARNED])
  })

  it('are paid out after the provider has removed the API', async () => {
    await serve(third)
    await call()
    await owner().remove('echo')
    await settle()
    assert.equal(await bench.usdc(third), EARNED)
  })

  it('name that address', async () => {
    const { providers } = await paymentSchemes[0]!.earnings()
    assert.deepEqual(new Set(providers.map(({ payout }) => payout)), new Set(payouts))
  })
})
