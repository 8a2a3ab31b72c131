import assert from 'node:assert/strict'
import { withUnknownCharge } from '../../../lib/base/errors.ts'
import type { Chain } from '../../../lib/interface/chain.ts'
import { storeFailed } from '../../../lib/store/commit-queue.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'
import { type Mortal, mortal } from '../../helpers/mortal.ts'
import { outcome } from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const PRICE = 1_000n

/** Faults that few of ten thousand simulated runs show, each at a smaller scale. */
describe('found by the simulator', () => {
  let bench: ChannelBench
  let lives: LifeBench
  let payer: Life

  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    lives = await lifeBench(bench)
    payer = await lives.start('C', { usdc: USDC })
  })
  afterEach(() => lives.close())

  it('an amount stays reserved while a failed commit may have charged it', async () => {
    const store = createMemoryStore()
    let fails = false
    const calls: typeof store.calls = {
      ...store.calls,
      append: (...args) => (fails ? Promise.reject(withUnknownCharge(storeFailed())) : store.calls.append(...args))
    }
    const owner = await lives.start('D', { store: { ...store, calls } })
    await lives.call(payer, owner, PRICE)
    const { order, reservation } = await lives.begin(payer, owner, PRICE)
    fails = true
    await assert.rejects(reservation.capture({ ...outcome(order.api), rule: 'success' }), { isChargeUnknown: true })
    const { spent, reserved } = lives.channel(owner)
    assert.deepEqual([spent, reserved], [PRICE, PRICE])
  })

  it('a close refunds a deposit that the endpoint did not show at first', async () => {
    const process = mortal()
    /** What the endpoint shows until the first refund. */
    const shown: { balance?: bigint } = {}
    const behind: Mortal = {
      ...process,
      chain: (chain: Chain): Chain => ({
        ...process.chain(chain),
        channels: async (ids, at) => {
          const view = await chain.channels(ids, at)
          const { balance } = shown
          if (balance === undefined || view.channels.some((state) => state?.refundNonce !== 0n)) return view
          return { ...view, channels: view.channels.map((state) => state && { ...state, balance }) }
        }
      })
    }
    const owner = await lives.start('D', { process: behind })
    await lives.call(payer, owner, PRICE)
    const { channelId } = lives.channel(payer)
    await lives.until('the deposit', async () => (await lives.onChain(channelId)).balance > 0n)
    const first = (await lives.onChain(channelId)).balance
    while ((await lives.onChain(channelId)).balance === first) await lives.call(payer, owner, 50_000n)
    const { spent } = lives.channel(payer)
    shown.balance = spent + 1n
    await payer.paymentScheme.close(channelId)
    assert.equal(await bench.usdc(payer.signer.address), USDC - spent)
  })
})
