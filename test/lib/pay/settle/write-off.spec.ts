import assert from 'node:assert/strict'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import type { Settlement } from '../../../../lib/pay/settle/settlement.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { redeemerBench } from '../../../helpers/redeemer-bench.ts'
import { settlementBench } from '../../../helpers/settlement-bench.ts'

describe('charges against a deposit that a reorganisation removed', () => {
  let bench: ChannelBench
  let owner: Awaited<ReturnType<typeof redeemerBench>>
  let store: Store
  let settlement: Settlement

  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    owner = await redeemerBench(bench)
    await bench.fundGas(owner.signer.address)
    store = createMemoryStore()
    await store.open()
    settlement = await start()
  })
  afterEach(async () => {
    await settlement.stop()
    await owner.close()
  })

  const {
    start,
    finalize,
    capture,
    sum,
    kinds,
    earnings: all
  } = settlementBench(() => ({ bench, owner, store, settlement }))
  const earnings = async () => {
    const { gross, writtenOff, captured, paid } = await all()
    return { gross, writtenOff, captured, paid: paid.provider + paid.treasury }
  }

  const reorg = (depth: number) =>
    bench.client.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
  /** Reads the final state, and then the head again. */
  const settle = async (channelId: ChannelId) => {
    await finalize()
    await settlement.watch.refresh([channelId])
    await settlement.bookkeeper.look()
  }
  const written = async (channelId: string) => {
    const accounts = ['receivable', 'uncollected', 'earned'].map((name) => `${name}/${channelId}`)
    return Promise.all(accounts.map((account) => store.ledger.balance(account)))
  }

  it('writes off the charges once that is final, once, even after a restart', async () => {
    const { channelId, config } = await owner.earn(300n, { deposit: 1_000n })
    await capture(channelId, 300n, 'a')
    await settlement.watch.refresh([channelId])
    await settlement.bookkeeper.look()
    await reorg(1)
    assert.equal((await bench.state(config)).balance, 0n)
    await settlement.watch.refresh([channelId])
    assert.deepEqual(await written(channelId), [300n, 0n, -300n])
    for (let looks = 0; looks < 3; looks++) await settle(channelId)
    assert.deepEqual(await written(channelId), [0n, 300n, -300n])
    assert.deepEqual(await earnings(), { gross: 0n, writtenOff: 300n, captured: 0n, paid: 0n })
    await settlement.stop()
    settlement = await start()
    for (let looks = 0; looks < 3; looks++) await settle(channelId)
    assert.deepEqual(await written(channelId), [0n, 300n, -300n])
    assert.deepEqual(await earnings(), { gross: 0n, writtenOff: 300n, captured: 0n, paid: 0n })
    assert.deepEqual(await kinds(), ['call', 'write_off'])
    assert.equal(await sum(), 0n)
  })

  it('reverses the write-off of a restored deposit when that is final, and claims it', async () => {
    const { channelId, config } = await owner.earn(300n, { deposit: 1_000n })
    await capture(channelId, 300n, 'a')
    await reorg(1)
    for (let looks = 0; looks < 3; looks++) await settle(channelId)
    assert.deepEqual(await written(channelId), [0n, 300n, -300n])
    const deposit = async (amount: bigint) => bench.act(bench.owner, await bench.deposit(config, amount))
    await deposit(100n)
    await settlement.watch.refresh([channelId])
    await settlement.bookkeeper.look()
    assert.deepEqual(await written(channelId), [0n, 300n, -300n])
    await settle(channelId)
    assert.deepEqual(await written(channelId), [100n, 200n, -300n])
    await settlement.redeemer.settleNow()
    await settle(channelId)
    assert.deepEqual(await written(channelId), [0n, 200n, -300n])
    await deposit(900n)
    await settle(channelId)
    await settlement.redeemer.settleNow()
    await settle(channelId)
    assert.deepEqual(await written(channelId), [0n, 0n, -300n])
    assert.deepEqual(await earnings(), { gross: 300n, writtenOff: 0n, captured: 0n, paid: 300n })
    assert.equal(await sum(), 0n)
  })

  it('writes off nothing that is only not final yet, or missing for a moment', async () => {
    const { channelId, config } = await owner.earn(300n, { deposit: 1_000n })
    await capture(channelId, 300n, 'a')
    await settlement.watch.refresh([channelId])
    await settlement.bookkeeper.look()
    await reorg(1)
    await settlement.watch.refresh([channelId])
    await bench.client.mine({ blocks: 1 })
    await settlement.bookkeeper.look()
    await bench.act(bench.owner, await bench.deposit(config, 1_000n))
    for (let looks = 0; looks < 3; looks++) await settle(channelId)
    assert.deepEqual(await kinds(), ['call'])
  })

  it('writes off the amount that a payer withdrew before the claim', async () => {
    const { channelId, config } = await owner.earn(300n, { deposit: 1_000n })
    await capture(channelId, 300n, 'a')
    await settlement.stop()
    await bench.act(bench.payer, bench.calls.initiateWithdraw(config, 900n))
    await bench.wait(901)
    await bench.act(bench.payer, bench.calls.finalizeWithdraw(config))
    settlement = await start()
    for (let looks = 0; looks < 3; looks++) await settle(channelId)
    assert.deepEqual(await written(channelId), [100n, 200n, -300n])
    assert.equal(await sum(), 0n)
  })
})
