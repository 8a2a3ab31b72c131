import assert from 'node:assert/strict'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { earningsOf } from '../../../../lib/pay/earnings-report.ts'
import { createSettlement, type Settlement } from '../../../../lib/pay/settle/settlement.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { hastyClock } from '../../../helpers/hasty-clock.ts'
import { redeemerBench } from '../../../helpers/redeemer-bench.ts'

const FINAL_BLOCKS = 3

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

  const start = async (): Promise<Settlement> => {
    const { chain, factory } = bench
    const { signer, books } = owner
    const { documents, ledger } = store
    // Nothing is claimed unless a test requests it.
    const policy = { atoms: 2n ** 60n, ageMs: 2 ** 40 }
    const onError = () => undefined
    const made = createSettlement({
      chain,
      signer,
      clock: hastyClock,
      documents,
      ledger,
      books,
      factory,
      policy,
      onError
    })
    await made.start()
    return made
  }
  const provider = () => [...owner.books.payouts()][0]!
  const splitter = () => bench.factory.splitterOf(provider())
  const finalize = () => bench.client.mine({ blocks: FINAL_BLOCKS })
  const earnings = async () => {
    const { providers } = await earningsOf({
      books: owner.books,
      ledger: store.ledger,
      settlement,
      onError: (error) => assert.fail(error)
    })
    const own = providers.find((row) => row.splitter === splitter())
    assert.ok(own, 'no earnings')
    const { gross, writtenOff, captured, paid } = own
    return { gross, writtenOff, captured, paid: paid.provider + paid.treasury }
  }
  /** A capture booked like the payment scheme does, so that the whole ledger sums up. */
  const capture = async (channelId: string, amount: bigint, reference: string) => {
    const postings = [
      { account: `receivable/${channelId}`, amount },
      { account: `earned/${channelId}`, amount: -amount }
    ]
    await store.ledger.book({ kind: 'call', reference, at: 0, postings })
  }
  const balances = async () =>
    Object.fromEntries((await store.ledger.balances('')).map(({ account, amount }) => [account, amount]))
  const sum = async () => Object.values(await balances()).reduce((total, amount) => total + amount, 0n)
  const kinds = async () => (await store.ledger.entries({ limit: 100 })).map(({ kind }) => kind)

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
