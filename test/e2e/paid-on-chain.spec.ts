import assert from 'node:assert/strict'
import { handler } from '../../lib/index.ts'
import { createChannelScheme, type ChannelScheme } from '../../lib/pay/index.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import type { PaymentSchemeComponents } from '../../lib/interface/payment-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { type ChannelBench, channelBench } from '../helpers/channel-bench.ts'
import { eventually } from '../helpers/eventually.ts'

const USDC = 1_000_000n
const CALLS = 137

/** Real nodes, real sockets, and a real EVM with the contracts. Only the money has no value. */
describe('paid calls on a dev chain', () => {
  let bench: ChannelBench
  let testnet: Testnet
  const paymentSchemes: ChannelScheme[] = []
  const signers: Signer[] = [keySigner(new Uint8Array(32).fill(71)), keySigner(new Uint8Array(32).fill(72))]

  const paymentScheme = (index: number) => {
    const make = createChannelScheme({ chain: bench.chain, signer: signers[index]! })
    return (components: PaymentSchemeComponents) => {
      const made = make(components)
      paymentSchemes.push(made)
      return made
    }
  }

  before(async () => {
    bench = await channelBench()
    await bench.client.setAutomine(true)
    // Only the owner has ETH for gas, because payers need none.
    await bench.fundGas(signers[0]!.address)
    await bench.mint(signers[1]!.address, 5n * USDC)
    testnet = await createTestnet({ nodes: 2, options: (index) => ({ paymentScheme: paymentScheme(index) }) })
    const payout = bench.provider.address
    await testnet.nodes[0]!.souk.serve(
      { name: 'echo', price: '0.0015', payout },
      handler(({ body }) => body)
    )
  })
  after(async () => {
    await testnet?.stop()
    await bench?.close()
  })

  it('settle on the chain: 95% to the provider, 5% to the treasury, to the atom', async () => {
    const treasury = bench.parameters.treasury!
    const before = { provider: await bench.usdc(bench.provider.address), treasury: await bench.usdc(treasury) }
    const { souk } = testnet.nodes[1]!
    await souk.call({ api: 'echo', body: 1 })
    const replies = await Promise.all(Array.from({ length: CALLS - 1 }, () => souk.call({ api: 'echo', body: 1 })))
    assert.ok(replies.every(({ charged }) => charged === 1_500n))

    const total = 1_500n * BigInt(CALLS)
    const redemption = await paymentSchemes[0]!.settlement.redeemer.settleNow()
    assert.equal(redemption.claimed, total)
    assert.deepEqual(redemption.refused, [])
    const fee = total / 20n
    await eventually('the payouts', 10_000, async () =>
      (await bench.usdc(treasury)) > before.treasury ? true : undefined
    )
    assert.equal((await bench.usdc(treasury)) - before.treasury, fee)
    assert.equal((await bench.usdc(bench.provider.address)) - before.provider, total - fee)
    assert.equal(await bench.usdc(signers[1]!.address), 5n * USDC - USDC / 2n)
  })

  it('continue on the same channel after a redemption', async () => {
    const { souk } = testnet.nodes[1]!
    assert.equal((await souk.call({ api: 'echo', body: 1 })).charged, 1_500n)
    const { claimed } = await paymentSchemes[0]!.settlement.redeemer.settleNow()
    assert.equal(claimed, 1_500n)
  })

  it('return the unspent deposit to the wallet when the payer closes the channel', async () => {
    const payer = paymentSchemes[1]!
    const [{ channel, error }] = (await payer.closeAll()) as [Awaited<ReturnType<ChannelScheme['closeAll']>>[0]]
    assert.equal(error, undefined)
    assert.equal(channel.state, 'closed')
    const total = 1_500n * BigInt(CALLS + 1)
    assert.equal(channel.spent, total)
    assert.equal(await bench.usdc(signers[1]!.address), 5n * USDC - total)
    assert.equal(paymentSchemes[0]!.channels()[0]?.state, 'closed')
  })
})
