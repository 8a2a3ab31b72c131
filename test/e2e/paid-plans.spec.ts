import assert from 'node:assert/strict'
import { handler, systemClock } from '../../lib/index.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/index.ts'
import type { PaymentSchemeComponents } from '../../lib/interface/payment-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { type ChannelBench, channelBench } from '../helpers/channel-bench.ts'
import { eventually } from '../helpers/eventually.ts'
import { type ShiftedClock, shiftedClock } from '../helpers/plans-bench.ts'

const USDC = 1_000_000n

/** Real nodes, real sockets, and a real EVM with the contracts. */
describe('plans paid through a channel', () => {
  let bench: ChannelBench
  let testnet: Testnet
  let clock: ShiftedClock
  const paymentSchemes: ChannelScheme[] = []
  const signers = [keySigner(new Uint8Array(32).fill(81)), keySigner(new Uint8Array(32).fill(82))]

  const paymentScheme = (index: number) => {
    const make = createChannelScheme({ chain: bench.chain, signer: signers[index]! })
    return (components: PaymentSchemeComponents) => {
      // The chain uses the system time; only the subscriptions' clock is shifted.
      const made = make({ ...components, clock: systemClock })
      paymentSchemes.push(made)
      return made
    }
  }

  before(async () => {
    bench = await channelBench()
    clock = shiftedClock()
    // A deposit above $1 counts in full only after some blocks.
    await bench.client.setIntervalMining({ interval: 1 })
    await bench.fundGas(signers[0]!.address)
    await bench.mint(signers[1]!.address, 10n * USDC)
    testnet = await createTestnet({ nodes: 2, options: (index) => ({ paymentScheme: paymentScheme(index), clock }) })
    await serve()
  })
  after(async () => {
    await testnet?.stop()
    await bench?.client.setAutomine(true)
    await bench?.close()
  })

  async function serve(): Promise<void> {
    const payout = bench.provider.address
    const overage = [{ upTo: 2, price: '0.003' }, { price: '0.0015' }]
    const plans = [
      { id: 'free', included: 2 },
      // The fee exceeds the exposure that is allowed without a plan.
      { id: 'team', fee: '2.5', included: 3, overage }
    ]
    await testnet.nodes[0]!.souk.serve(
      { name: 'echo', price: '0.01', payout, plans, payPerCall: false },
      handler(({ body }) => body)
    )
  }

  it('need no channel while calls are free', async () => {
    const { souk } = testnet.nodes[1]!
    const { subscription } = await souk.subscriptions.subscribe({ api: 'echo', plan: 'free', maxPrice: '0' })
    for (let i = 0; i < 2; i++) {
      assert.equal((await souk.call({ api: 'echo', body: i, subscription: subscription.id })).charged, 0n)
    }
    await assert.rejects(souk.call({ api: 'echo', body: 1, subscription: subscription.id }), { code: 'quota_exceeded' })
    assert.deepEqual(paymentSchemes[1]!.channels(), [])
  })

  it('settle fees and overage on the chain: 95% to the provider, 5% to the treasury, to the atom', async () => {
    const { souk } = testnet.nodes[1]!
    const treasury = bench.parameters.treasury!
    const before = { provider: await bench.usdc(bench.provider.address), treasury: await bench.usdc(treasury) }
    const told: bigint[] = []
    const onPrice = (price: bigint) => void told.push(price)
    const terms = { api: 'echo', plan: 'team', maxPrice: '0.003' }
    const { subscription, charged, requestId } = await souk.subscriptions.subscribe(terms, { onPrice })
    assert.deepEqual([charged, new Set(told)], [2_500_000n, new Set([2_500_000n])])
    const { id } = subscription
    const prices: bigint[] = []
    for (let i = 0; i < 7; i++) prices.push((await souk.call({ api: 'echo', body: i, subscription: id })).charged)
    assert.deepEqual(prices, [0n, 0n, 0n, 3_000n, 3_000n, 1_500n, 1_500n])

    // The first call of the next period pays the fee, separately from its own price.
    clock.shift(subscription.periodEnd - clock.now() + 1)
    await serve()
    const fees: bigint[] = []
    const onFee = (fee: bigint) => void fees.push(fee)
    const renewed = await souk.call({ api: 'echo', body: 1, subscription: id, onFee })
    assert.deepEqual([renewed.charged, renewed.fee, new Set(fees)], [0n, 2_500_000n, new Set([2_500_000n])])

    // A fee has a signed receipt like any call.
    const { receipts } = await paymentSchemes[1]!.receipts({ role: 'payer', limit: 100 })
    const fee = receipts.find((receipt) => receipt.requestId === requestId)
    assert.deepEqual([fee?.charged, fee?.signature], [2_500_000n, 'valid'])

    const total = 5_009_000n
    // The owner redeems large amounts automatically. This redeems the rest.
    await paymentSchemes[0]!.settlement.redeemer.settleNow()
    const share = total / 20n
    const settled = await eventually('the payouts', 20_000, async () => {
      const now = { provider: await bench.usdc(bench.provider.address), treasury: await bench.usdc(treasury) }
      const came = { provider: now.provider - before.provider, treasury: now.treasury - before.treasury }
      return came.provider + came.treasury === total ? came : undefined
    })
    assert.deepEqual(settled, { provider: total - share, treasury: share })
  })

  it('are never renewed above the agreed fee, or against the payment guard', async () => {
    await serve()
    const { souk } = testnet.nodes[1]!
    const { subscription } = await souk.subscriptions.subscribe({ api: 'echo', plan: 'team', maxPrice: '0' })
    clock.shift(32 * 86_400_000)
    const refuse = () => {
      throw new Error('not today')
    }
    await assert.rejects(souk.call({ api: 'echo', body: 1, subscription: subscription.id, onFee: refuse }))
    assert.equal((await souk.subscriptions.get(subscription.id))?.state, 'paused')
    await souk.subscriptions.change(subscription.id, { maxFee: '2' })
    await assert.rejects(souk.call({ api: 'echo', body: 1, subscription: subscription.id }), {
      code: 'price_exceeds_limit'
    })
  })
})
