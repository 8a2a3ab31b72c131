import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { createSqliteStore } from '../../../lib/store/sqlite/store.ts'
import { type SchemeBench, schemeBench, type SchemeNode } from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n

describe('the channel payment scheme with another disk', () => {
  let bench: SchemeBench
  let owner: SchemeNode
  let payer: SchemeNode

  beforeEach(async () => {
    bench = schemeBench()
    owner = await bench.start('D')
    payer = await bench.start('C')
    bench.play.wallets.set(payer.signer.address, 10n * USDC)
  })

  const restart = async (
    node: SchemeNode,
    name: string,
    kept: SchemeNode['store'] = node.store
  ): Promise<SchemeNode> => {
    await node.paymentScheme.stop()
    return bench.start(name, {}, { store: kept, signer: node.signer })
  }

  it('registers the channel again with an owner that lost its books', async () => {
    for (let i = 0; i < 3; i++) await bench.call(payer, owner)
    owner = await restart(owner, 'D', createMemoryStore())
    await bench.call(payer, owner)
    assert.equal(bench.play.deposits, 1)
    assert.equal(bench.play.channels.size, 1)
  })

  it('an owner that raises its withdrawal delay takes deposits into the channels it has, and asks more of new ones', async () => {
    await bench.call(payer, owner)
    const { config } = JSON.parse((await owner.store.documents.get('payee-channels', bench.channelId()))!) as {
      config: { withdrawDelay: number }
    }
    await owner.paymentScheme.stop()
    const rules = { withdrawDelay: config.withdrawDelay * 2 }
    owner = await bench.start('D', rules, { store: owner.store, signer: owner.signer })
    await bench.call(payer, owner, { price: USDC, maxPrice: USDC })
    assert.equal(bench.play.deposits, 2)
    assert.equal(bench.play.channels.size, 1)
    const newcomer = await bench.start('N')
    bench.play.wallets.set(newcomer.signer.address, USDC)
    await bench.call(newcomer, owner)
    const kept = await owner.store.documents.get('payee-channels', bench.channelId())
    assert.equal((JSON.parse(kept!) as { config: typeof config }).config.withdrawDelay, rules.withdrawDelay)
    await newcomer.paymentScheme.stop()
  })

  it('an owner that lost its books books the claimed amount as captured, so that it cannot be spent twice', async () => {
    for (let i = 0; i < 5; i++) await bench.call(payer, owner)
    bench.onChain().claimed = 400n
    owner = await restart(owner, 'D', createMemoryStore())
    await bench.call(payer, owner)
    // Four were claimed, the fifth was not claimed and is lost, the sixth is new.
    assert.equal(await owner.store.ledger.balance(`earned/${bench.channelId()}`), -500n)
    owner = await restart(owner, 'D')
    await bench.call(payer, owner)
    assert.equal(await owner.store.ledger.balance(`earned/${bench.channelId()}`), -600n)
    assert.equal(
      (await owner.store.ledger.entries({ limit: 100 })).filter(({ kind }) => kind === 'recovered').length,
      1
    )
  })

  it('an owner with an old copy of its books charges no call again, and claims no more than was signed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'souk-old-books-'))
    try {
      const kept = createSqliteStore({ path: join(directory, 'kept.db') })
      owner = await restart(owner, 'D', kept)
      for (let i = 0; i < 3; i++) await bench.call(payer, owner)
      await kept.backUp(join(directory, 'old.db'))
      for (let i = 0; i < 4; i++) await bench.call(payer, owner)
      bench.onChain().claimed = 500n
      await owner.paymentScheme.stop()
      await kept.close()
      const old = createSqliteStore({ path: join(directory, 'old.db') })
      await old.open()
      owner = await bench.start('D', {}, { store: old, signer: owner.signer })
      const earned = async () => -(await old.ledger.balance(`earned/${bench.channelId()}`))
      assert.equal(await earned(), 300n)
      for (let i = 0; i < 2; i++) await bench.call(payer, owner)
      // The copy has three calls. Five were claimed, two were not claimed and are lost, two are new.
      const { earned: inBooks, spent } = await bench.books(owner, payer)
      assert.deepEqual([inBooks, spent], [700n, 900n])
      await owner.paymentScheme.stop()
      await old.close()
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('an owner with another wallet admits nothing on channels that it cannot claim from, until it has the old one again', async () => {
    await bench.call(payer, owner)
    await owner.paymentScheme.stop()
    const other = await bench.start('D', {}, { store: owner.store })
    await assert.rejects(bench.call(payer, other), { code: 'payment_rejected' })
    await other.paymentScheme.stop()
    owner = await bench.start('D', {}, { store: owner.store, signer: owner.signer })
    await bench.call(payer, owner)
    assert.deepEqual(await bench.books(owner, payer), { earned: 200n, spent: 200n })
  })

  it('a payer that lost its books finds its channel and its spending again', async () => {
    for (let i = 0; i < 3; i++) await bench.call(payer, owner)
    bench.play.wallets.set(payer.signer.address, 0n)
    payer = await restart(payer, 'C', createMemoryStore())
    await bench.call(payer, owner)
    assert.equal(bench.play.deposits, 1)
    assert.deepEqual(await bench.books(owner, payer), { earned: 400n, spent: 400n })
    assert.equal(await payer.store.ledger.balance('wallet'), -500_000n)
  })
})
