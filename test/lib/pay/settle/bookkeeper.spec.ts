import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem/utils'
import type { Ledger } from '../../../../lib/interface/ledger.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { Bookkeeper } from '../../../../lib/pay/settle/bookkeeper.ts'
import { splitterAbi, usdcAbi } from '../../../../lib/pay/contracts/contracts.generated.ts'
import { earningsOf } from '../../../../lib/pay/earnings-report.ts'
import { nodeWallet } from '../../../../lib/pay/chain/node-wallet.ts'
import { exactAccounts } from '../../../../lib/pay/x402/exact-record.ts'
import type { Settlement } from '../../../../lib/pay/settle/settlement.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { hastyClock } from '../../../helpers/hasty-clock.ts'
import { redeemerBench } from '../../../helpers/redeemer-bench.ts'
import { settlementBench } from '../../../helpers/settlement-bench.ts'

const BOUND_MS = 10_000

describe('the bookkeeper', () => {
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

  const { start, provider, splitter, finalize, earnings, capture, balances, sum, kinds } = settlementBench(() => ({
    bench,
    owner,
    store,
    settlement
  }))

  it('books a round once it is final, with each atom in one place before and after', async () => {
    const [one, two] = [
      await owner.earn(3_333n, { deposit: 1_000_000n }),
      await owner.earn(777_777n, { deposit: 1_000_000n })
    ]
    await capture(one.channelId, 3_333n, 'a')
    await capture(two.channelId, 777_777n, 'b')
    const total = 781_110n
    await settlement.watch.refresh([one.channelId, two.channelId])
    assert.deepEqual(pick(await earnings()), { ...NOTHING, gross: total, captured: total })

    await bench.act(owner.signer, bench.calls.claim([await bench.row(one.config, 3_333n)]))
    await settlement.watch.refresh([one.channelId])
    const meanwhile = { ...NOTHING, gross: total, captured: 777_777n, claiming: 3_333n }
    assert.deepEqual(pick(await earnings()), meanwhile)
    assert.deepEqual(await kinds(), ['call', 'call'])

    await settlement.redeemer.settleNow()
    await finalize()
    const [toProvider, toTreasury] = [total - total / 20n, total / 20n]
    const done = await eventually('it is final', BOUND_MS, async () => {
      const row = await earnings()
      return row.transactions.length === 2 ? row : undefined
    })
    const paid = { provider: toProvider, treasury: toTreasury }
    assert.deepEqual(pick(done), { ...NOTHING, gross: total, paid })
    assert.equal(done.payout, provider())
    assert.deepEqual({ fee: done.fee, net: done.net }, { fee: toTreasury, net: toProvider })
    assert.deepEqual(await kinds(), ['call', 'call', 'claim', 'claim', 'settle', 'distribute'])
    assert.deepEqual(await balances(), {
      [`earned/${one.channelId}`]: -3_333n,
      [`earned/${two.channelId}`]: -777_777n,
      [`receivable/${one.channelId}`]: 0n,
      [`receivable/${two.channelId}`]: 0n,
      [`claimed/${splitter()}`]: 0n,
      [`splitter/${splitter()}`]: 0n,
      [`payout/${splitter()}`]: toProvider,
      [`treasury/${splitter()}`]: toTreasury
    })
    assert.deepEqual(await owner.paid(), paid)
  })

  it('lists the transactions, and keeps their cost out of the ledger', async () => {
    const { channelId } = await owner.earn(100n, { deposit: 1_000n })
    await settlement.watch.refresh([channelId])
    const { transactions } = await settlement.redeemer.settleNow()
    await finalize()
    const all = await eventually('they are final', BOUND_MS, async () => {
      const found = await earningsOf({
        books: owner.books,
        ledger: store.ledger,
        settlement,
        onError: (error) => assert.fail(error)
      })
      return found.gas.transactions === 3 ? found : undefined
    })
    const hashes = transactions.map(({ hash }) => hash)
    const named = [...all.claims, ...(all.providers[0]?.transactions ?? [])].map(({ hash }) => hash)
    assert.deepEqual(new Set(named), new Set(hashes))
    assert.equal(
      all.gas.cost,
      transactions.reduce((cost, { receipt }) => cost + receipt.cost, 0n)
    )
    assert.equal(await sum(), 0n)
    await settlement.stop()
    settlement = await start()
    assert.equal(settlement.transactions.cost.cost, all.gas.cost)
  })

  it('agrees with the chain if another account settles and pays out, even only one side', async () => {
    const { channelId, config } = await owner.earn(1_000n, { deposit: 5_000n })
    const { calls, stranger, factory, act, parameters } = bench
    const row = await bench.row(config, 1_000n)
    await act(owner.signer, calls.claim([row]))
    await act(stranger, calls.settle(splitter()))
    await act(stranger, { to: factory.address, data: create(provider()) })
    const data = encodeFunctionData({
      abi: splitterAbi,
      functionName: 'releaseTreasury',
      args: [parameters.usdc.address]
    })
    await act(stranger, { to: splitter(), data })
    await finalize()
    assert.deepEqual(pick(await earnings()), {
      ...NOTHING,
      gross: 1_000n,
      waiting: 950n,
      paid: { provider: 0n, treasury: 50n }
    })
    await act(stranger, calls.distribute(factory, provider()))
    await finalize()
    assert.deepEqual((await earnings()).paid, { provider: 950n, treasury: 50n })
    assert.equal(await store.ledger.balance(`receivable/${channelId}`), -1_000n)
  })

  it("distinguishes other owners' and direct payments from earnings of calls", async () => {
    const { calls, stranger, act, parameters } = bench
    const theirs = await bench.open(2_000n, { receiver: splitter(), receiverAuthorizer: stranger.address })
    await act(stranger, calls.claim([await bench.row(theirs, 700n)]))
    await bench.mint(stranger.address, 40n)
    const gift = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [splitter(), 40n] })
    await act(stranger, { to: parameters.usdc.address, data: gift })
    const own = await owner.earn(300n, { deposit: 1_000n })
    await settlement.watch.refresh([own.channelId])
    await settlement.redeemer.settleNow()
    await finalize()
    assert.deepEqual(pick(await earnings()), {
      ...NOTHING,
      gross: 300n,
      others: 700n,
      direct: 40n,
      paid: { provider: 988n, treasury: 52n }
    })
    assert.equal(await sum(), 0n)
  })

  it('counts x402 exact payments as earned, from owed to paid out', async () => {
    const { receivable, earned, collected, lost } = exactAccounts(splitter())
    const book = (reference: string, from: string, to: string, amount: bigint) => {
      const postings = [
        { account: to, amount },
        { account: from, amount: -amount }
      ]
      return store.ledger.book({ kind: 'exact', reference, at: 0, postings })
    }
    // This channel makes the provider known to the books.
    await owner.earn(1n, { deposit: 1_000n, ceiling: 0n })
    await book('one', earned, receivable, 1_000n)
    await book('two', earned, receivable, 500n)
    const base = await earnings()
    assert.deepEqual([base.gross, base.captured], [1_501n, 1_501n])
    await book('two is lost', receivable, lost, 500n)
    await bench.mint(bench.stranger.address, 1_000n)
    const { usdc } = bench.parameters
    const transfer = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [splitter(), 1_000n] })
    await bench.act(bench.stranger, { to: usdc.address, data: transfer })
    await book('one is mined', receivable, collected, 1_000n)
    assert.deepEqual(pick(await earnings()), {
      ...NOTHING,
      gross: 1_001n,
      writtenOff: 500n,
      captured: 1n,
      claiming: 1_000n
    })
    await finalize()
    assert.deepEqual(pick(await earnings()), {
      ...NOTHING,
      gross: 1_001n,
      writtenOff: 500n,
      captured: 1n,
      waiting: 1_000n
    })
    assert.equal(await sum(), 0n)
  })

  it('remembers a provider whose APIs are no longer served, and pays it out', async () => {
    const { channelId } = await owner.earn(1_000n, { deposit: 5_000n })
    await settlement.bookkeeper.look()
    await settlement.stop()
    const to = provider()
    const { payouts } = owner.books
    Object.assign(owner.books, { payouts: () => [] })
    settlement = await start()
    await settlement.watch.refresh([channelId])
    await settlement.redeemer.settleNow()
    assert.equal(await bench.usdc(to), 950n)
    Object.assign(owner.books, { payouts })
  })

  it('books nothing of a claim that a reorganisation removed, and its replacement once', async () => {
    const { calls, act, client } = bench
    const { config } = await owner.earn(500n, { deposit: 1_000n })
    await finalize()
    await settlement.bookkeeper.look()
    await act(owner.signer, calls.claim([await bench.row(config, 500n)]))
    await settlement.bookkeeper.look()
    await client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
    assert.equal((await bench.state(config)).claimed, 0n)
    await finalize()
    assert.deepEqual(await kinds(), [])
    await act(owner.signer, calls.claim([await bench.row(config, 200n)]))
    await finalize()
    assert.equal((await earnings()).claimed, 200n)
    assert.deepEqual(await kinds(), ['claim'])
  })

  it('catches up after an absence, in one entry per step', async () => {
    const { config } = await owner.earn(400n, { deposit: 1_000n })
    await settlement.stop()
    const { act, calls, factory } = bench
    for (const total of [100n, 250n, 400n]) {
      await act(owner.signer, calls.claim([await bench.row(config, total)]))
      await act(owner.signer, calls.settle(splitter()))
      await act(owner.signer, calls.distribute(factory, provider()))
    }
    await finalize()
    settlement = await start()
    assert.deepEqual((await earnings()).paid, { provider: 380n, treasury: 20n })
    assert.deepEqual(await kinds(), ['claim', 'settle', 'distribute'])
  })

  it('books each step once, wherever it is killed', async () => {
    for (const amount of [600n, 60n]) await owner.earn(amount, { deposit: 1_000n })
    await settlement.redeemer.settleNow()
    await settlement.stop()
    await finalize()
    const whole = createMemoryStore()
    await whole.open()
    await keeperOn(whole.ledger, whole).look()
    const expected = await whole.ledger.balances('')
    const steps = (await whole.ledger.entries({ limit: 100 })).length
    assert.equal(steps, 4)
    for (let dieAt = 0; dieAt < 2 * steps; dieAt++) {
      const mortal = createMemoryStore()
      await mortal.open()
      let instants = 0
      const never = new Promise<never>(() => undefined)
      const dying: Pick<Ledger, 'book'> = {
        book: async (...entry) => {
          if (instants++ >= dieAt) return never
          const isNew = await mortal.ledger.book(...entry)
          return instants++ >= dieAt ? never : isNew
        }
      }
      const killed = keeperOn(dying, mortal)
      await killed.start()
      await eventually('it is killed', BOUND_MS, () => (instants > dieAt ? true : undefined))
      const next = keeperOn(mortal.ledger, mortal)
      await next.start()
      await next.look()
      await next.stop()
      assert.deepEqual(await mortal.ledger.balances(''), expected, `killed at ${dieAt}`)
      assert.equal((await mortal.ledger.entries({ limit: 100 })).length, steps)
    }
    settlement = await start()
  })

  it('continues while the chain was away, and reports that its figures are old', async () => {
    const { chain, factory } = bench
    let isAway = true
    const keeper = new Bookkeeper({
      chain: {
        ...chain,
        block: (at) => (isAway ? Promise.reject(new Error('away')) : chain.block(at))
      },
      clock: hastyClock,
      documents: store.documents,
      ledger: store.ledger,
      books: owner.books,
      watch: settlement.watch,
      factory,
      onError: () => undefined
    })
    const told = () =>
      earningsOf({
        books: owner.books,
        ledger: store.ledger,
        settlement: { ...settlement, bookkeeper: keeper },
        onError: () => undefined
      })
    const { isStale, asOf } = await told()
    assert.deepEqual({ isStale, asOf }, { isStale: true, asOf: undefined })
    isAway = false
    const later = await told()
    assert.equal(later.isStale, false)
    assert.ok(later.asOf !== undefined && later.asOf.block > 0n)
  })

  describe('and the wallet', () => {
    const wallet = () =>
      nodeWallet({
        chain: bench.chain,
        address: owner.signer.address,
        submitter: settlement.submitter,
        transactions: settlement.transactions,
        documents: store.documents
      })

    it('withdraws USDC once per id, and books it when it is final', async () => {
      await bench.mint(owner.signer.address, 1_000n)
      const to = `0x${'5c'.repeat(20)}` as const
      const withdrawal = { to, amount: 400n, id: 'one' }
      const [first, second] = await Promise.all([wallet().withdraw(withdrawal), wallet().withdraw(withdrawal)])
      assert.equal(first.hash, second.hash)
      assert.equal((await wallet().withdraw(withdrawal)).hash, first.hash)
      assert.equal((await wallet().balance()).latest, 600n)
      assert.equal(await bench.usdc(to), 400n)
      await finalize()
      await eventually('it is booked', BOUND_MS, async () =>
        (await store.ledger.balance('wallet')) === -400n ? true : undefined
      )
      assert.equal(await store.ledger.balance(`withdrawn/${to}`), 400n)
      assert.equal((await wallet().balance()).finalized, 600n)
      // After many later transactions, the submitter has forgotten it.
      await settlement.stop()
      const sent = `transactions/${bench.parameters.chainId}/${owner.signer.address}`
      for (const { key } of await store.documents.list(sent)) await store.documents.delete(sent, key)
      settlement = await start()
      assert.equal((await wallet().withdraw(withdrawal)).hash, first.hash)
      assert.equal(await bench.usdc(to), 400n)
    })

    it('rejects amounts above the balance, zero, and addresses that would lose the money', async () => {
      const { usdc, settlement: channels } = bench.parameters
      await bench.mint(owner.signer.address, 10n)
      const to = `0x${'5d'.repeat(20)}` as const
      for (const [change, code] of [
        [{ amount: 11n }, 'insufficient_funds'],
        [{ amount: 0n }, 'invalid_request'],
        [{ amount: -1n }, 'invalid_request'],
        [{ to: usdc.address }, 'invalid_request'],
        [{ to: channels.address }, 'invalid_request'],
        [{ to: `0x${'00'.repeat(20)}` as const }, 'invalid_request'],
        [{ to: owner.signer.address }, 'invalid_request'],
        [{ id: 'a/b' }, 'invalid_request'],
        [{ id: '' }, 'invalid_request']
      ] as const) {
        await assert.rejects(wallet().withdraw({ to, amount: 5n, id: 'x', ...change }), { code })
      }
      assert.equal((await wallet().balance()).latest, 10n)
    })
  })

  const keeperOn = (ledger: Pick<Ledger, 'book'>, { documents }: Store): Bookkeeper =>
    new Bookkeeper({
      chain: bench.chain,
      clock: hastyClock,
      documents,
      ledger,
      books: owner.books,
      watch: settlement.watch,
      factory: bench.factory,
      onError: () => undefined
    })
})

const NOTHING = {
  gross: 0n,
  direct: 0n,
  others: 0n,
  writtenOff: 0n,
  captured: 0n,
  claiming: 0n,
  claimed: 0n,
  waiting: 0n,
  paid: { provider: 0n, treasury: 0n }
}

/** The amounts, after a check that each atom is counted exactly once. */
function pick(row: typeof NOTHING): typeof NOTHING {
  const { gross, direct, others, writtenOff, captured, claiming, claimed, waiting, paid } = row
  const came = gross + direct + others
  assert.equal(captured + claiming + claimed + waiting + paid.provider + paid.treasury, came)
  return { gross, direct, others, writtenOff, captured, claiming, claimed, waiting, paid }
}

/** The selector of `SplitterFactory.create(provider)`. */
function create(payout: `0x${string}`): `0x${string}` {
  const inputs = [{ type: 'address', name: 'provider' }] as const
  const abi = [{ type: 'function', name: 'create', inputs, outputs: [], stateMutability: 'nonpayable' }] as const
  return encodeFunctionData({ abi, functionName: 'create', args: [payout] })
}
