import assert from 'node:assert/strict'
import { keccak256 } from 'viem/utils'
import { SoukError } from '../../../../lib/base/errors.ts'
import type { Chain } from '../../../../lib/interface/chain.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'
import { eventually, within } from '../../../helpers/eventually.ts'
import { hasted } from '../../../helpers/hasty-clock.ts'
import { mortal } from '../../../helpers/mortal.ts'
import { submitterBench } from '../../../helpers/submitter-bench.ts'

const BOUND_MS = 10_000

describe('the submitter under faults', () => {
  let bench: ChainBench
  let account: Awaited<ReturnType<typeof submitterBench>>

  before(async () => {
    bench = await chainBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    account = await submitterBench(bench)
  })
  afterEach(() => account.close())

  /** The instants of a process from the plan to the end, in this test. */
  const LIFE = [
    ['before put', 'after put'],
    ['before put', 'after put'],
    ['before broadcast', 'after broadcast'],
    ['before put', 'after put'],
    ['before put', 'after put']
  ].flat()

  for (const [dieAt, instant] of [...LIFE, 'never'].entries()) {
    it(`loses nothing and sends nothing twice, killed ${instant} (${dieAt})`, async () => {
      const { start, killed, transfer, mine, final, sent, nonce } = account
      const life = mortal(dieAt)
      const first = await start({ life })
      void first.submit('a', transfer(1n)).catch(() => undefined)
      await eventually('its end', BOUND_MS, async () => {
        if (life.isDead || first.find('a')?.isFinal === true) return true
        await mine()
        return undefined
      })
      assert.deepEqual(life.lived, LIFE.slice(0, dieAt))
      if (life.isDead) killed(first)
      const second = await start()
      const { receipt } = await within('a second process has it mined', BOUND_MS, second.submit('a', transfer(1n)))
      assert.ok(receipt.succeeded)
      await final(second, 'a')
      assert.deepEqual([await sent(), await nonce()], [1n, 1])
    })
  }

  // The third write is of the new version, before its broadcast. The number of broadcasts of the first version depends on timing.
  for (const [instants, dieAt] of ['before put', 'after put', 'before broadcast', 'after broadcast'].entries()) {
    it(`is mined once, killed while its fee is raised (${dieAt})`, async () => {
      const { start, killed, transfer, mine, final, sent, nonce } = account
      await bench.client.setAutomine(false)
      const life = mortal((lived, next) => {
        const written = [...lived, next].flatMap((name, i) => (name === 'before put' ? [i] : []))[2]
        return written !== undefined && lived.length === written + instants
      })
      const first = await start({ life })
      void first.submit('a', transfer(1n)).catch(() => undefined)
      await eventually('its end', BOUND_MS, () => (life.isDead ? true : undefined))
      killed(first)
      const second = await start()
      const waiting = second.submit('a', transfer(1n))
      await mine()
      assert.ok((await within('a second process has it mined', BOUND_MS, waiting)).receipt.succeeded)
      await final(second, 'a')
      assert.deepEqual([await sent(), await nonce()], [1n, 1])
    })
  }

  it('sends the same bytes again after a restart', async () => {
    const { start, killed, transfer, pending, seen, mine } = account
    await bench.client.setAutomine(false)
    const life = mortal()
    const first = await start({ life })
    void first.submit('a', transfer(1n)).catch(() => undefined)
    const hash = await eventually('it is sent', BOUND_MS, async () => (await pending())[0])
    life.kill()
    killed(first)
    await bench.client.dropTransaction({ hash })
    const second = await start()
    await eventually('it is sent again', BOUND_MS, async () => (await pending())[0])
    assert.deepEqual(seen, [seen[0], seen[0]])
    await mine()
    assert.equal((await second.submit('a', transfer(1n))).hash, hash)
  })

  it('recognises an older version that was mined', async () => {
    const { start, transfer, chain, seen, mine, final, sent } = account
    await bench.client.setAutomine(false)
    // Only the first version reaches the chain.
    const broadcast: Chain['broadcast'] = async (raw) => (seen.length === 1 ? chain.broadcast(raw) : 'accepted')
    const submitter = await start({ on: { broadcast } })
    const waiting = submitter.submit('a', transfer(1n))
    await eventually('the fee is raised', BOUND_MS, () => (new Set(seen).size > 2 ? true : undefined))
    await mine()
    assert.ok((await waiting).receipt.succeeded)
    await final(submitter, 'a')
    assert.equal(await sent(), 1n)
  })

  for (const depth of [1, 2, 3, 5, 10]) {
    it(`resubmits after a reorganisation of ${depth} blocks`, async () => {
      const { start, transfer, chain, mine, final, sent, nonce, seen, reorg } = account
      const finalized = await chain.block('finalized')
      let isReorganised = false
      // A slow test would otherwise see the transaction final before the reorganisation, which no real chain allows.
      const block: Chain['block'] = async (tag) =>
        tag === 'finalized' && !isReorganised ? finalized : chain.block(tag)
      const finalNonce: Chain['nonce'] = async (address, tag) =>
        tag === 'finalized' && !isReorganised ? 0 : chain.nonce(address, tag)
      const submitter = await start({ on: { block, nonce: finalNonce } })
      await mine()
      const first = await submitter.submit('a', transfer(1n))
      await bench.client.setAutomine(false)
      for (let block = 1; block < depth; block++) await mine()
      await reorg(depth)
      isReorganised = true
      await bench.client.dropTransaction({ hash: first.hash }).catch(() => undefined)
      await eventually('it is mined again', BOUND_MS, async () => {
        await mine()
        // On a slow machine its fee may be raised before it is mined again.
        const versions = new Set(seen.map((raw) => keccak256(raw)))
        const receipts = await Promise.all([...versions].map((hash) => chain.receipt(hash)))
        return receipts.some((receipt) => receipt && receipt.blockHash !== first.receipt.blockHash) || undefined
      })
      const last = await final(submitter, 'a')
      assert.notEqual(last.receipt.blockHash, first.receipt.blockHash)
      assert.deepEqual([await sent(), await nonce()], [1n, 1])
    })
  }

  it('plans again after another transaction used its nonce, but only once that is final', async () => {
    const { start, killed, transfer, elsewhere, nonce, sent, mine, seen } = account
    const life = mortal(LIFE.indexOf('before broadcast'))
    const first = await start({ life })
    void first.submit('a', transfer(1n)).catch(() => undefined)
    await eventually('killed before the broadcast', BOUND_MS, () => (life.isDead ? true : undefined))
    killed(first)
    await elsewhere(100n)
    await eventually('the other is mined', BOUND_MS, async () => ((await nonce()) === 1 ? true : undefined))
    let looks = 0
    const counted: Chain['nonce'] = (...args) => {
      looks++
      return account.chain.nonce(...args)
    }
    const second = await start({ on: { nonce: counted }, clock: hasted(2_000) })
    const waiting = second.submit('a', transfer(1n))
    await eventually('it has looked often', BOUND_MS, () => (looks > 20 ? true : undefined))
    assert.deepEqual([await sent(), seen.length], [100n, 0])
    await mine(4)
    assert.ok((await within('it has another nonce', BOUND_MS, waiting)).receipt.succeeded)
    assert.deepEqual([await sent(), await nonce()], [101n, 2])
  })

  it('sends nothing twice through an endpoint that shows a receipt late', async () => {
    const { start, transfer, sent, nonce, mine, chain } = account
    let isLate = true
    let looks = 0
    const receipt: Chain['receipt'] = async (hash) => {
      const shown = await chain.receipt(hash)
      if (shown !== undefined && isLate) looks++
      return isLate ? undefined : shown
    }
    const submitter = await start({ on: { receipt } })
    const waiting = submitter.submit('a', transfer(1n))
    await eventually('it is mined', BOUND_MS, async () => ((await nonce()) === 1 ? true : undefined))
    await mine(4)
    looks = 0
    await eventually('its nonce is final', BOUND_MS, () => (looks > 20 ? true : undefined))
    isLate = false
    assert.ok((await within('it is shown', BOUND_MS, waiting)).receipt.succeeded)
    assert.deepEqual([await sent(), await nonce()], [1n, 1])
  })

  it('sends nothing twice through an endpoint that has dropped a receipt', async () => {
    const { start, transfer, sent, nonce, final, chain } = account
    let isDropped = false
    const receipt: Chain['receipt'] = async (hash) => (isDropped ? undefined : chain.receipt(hash))
    const finalized = await chain.block('finalized')
    const block: Chain['block'] = async (tag) => (tag === 'finalized' && !isDropped ? finalized : chain.block(tag))
    // Each of its looks is minutes after the one before.
    const submitter = await start({ on: { receipt, block }, clock: hasted(2_000) })
    await submitter.submit('a', transfer(1n))
    isDropped = true
    await final(submitter, 'a')
    assert.deepEqual([await sent(), await nonce()], [1n, 1])
  })

  it('sends no transfer twice after a restart, through an endpoint that has dropped its receipt', async () => {
    const { start, transfer, sent, nonce, mine } = account
    const life = mortal((_, next) => next === 'after broadcast')
    const first = await start({ life })
    void first.submit('a', transfer(1n)).catch(() => undefined)
    await eventually('it is mined', BOUND_MS, async () => ((await nonce()) === 1 ? true : undefined))
    account.killed(first)
    await mine(4)
    // Each of its looks is minutes after the one before.
    const second = await start({ on: { receipt: async () => undefined }, clock: hasted(2_000) })
    const { hash, receipt } = await within('it is found', BOUND_MS, second.submit('a', transfer(1n)))
    assert.equal(hash, keccak256(account.seen[0]!))
    assert.equal(receipt.blockHash, (await bench.client.getTransactionReceipt({ hash })).blockHash)
    await account.final(second, 'a')
    assert.deepEqual([await sent(), await nonce()], [1n, 1])
  })

  it('fills a gap left by another sender', async () => {
    const { start, transfer, elsewhere, mine, pending, reorg, sent, nonce } = account
    await bench.client.setAutomine(false)
    const other = await elsewhere(100n)
    await mine()
    const submitter = await start()
    const waiting = submitter.submit('a', transfer(1n))
    await eventually('it is sent', BOUND_MS, async () => (await pending())[0])
    await reorg(1)
    await bench.client.dropTransaction({ hash: other })
    await eventually('it is mined', BOUND_MS, async () => {
      await mine()
      return submitter.find('a')
    })
    assert.ok((await waiting).receipt.succeeded)
    assert.deepEqual([await sent(), await nonce()], [1n, 2])
  })

  it('continues when the endpoint is back', async () => {
    const { start, transfer, chain } = account
    let isDown = true
    const errors: unknown[] = []
    const down = Object.assign(new Error('down'), { code: 'settlement_unavailable', status: 503 })
    const nonce: Chain['nonce'] = (...args) => (isDown ? Promise.reject(down) : chain.nonce(...args))
    const submitter = await start({ on: { nonce }, errors })
    const waiting = submitter.submit('a', transfer(1n))
    await eventually('the trouble is told', BOUND_MS, () => submitter.status().trouble)
    isDown = false
    assert.ok((await waiting).receipt.succeeded)
    await eventually('all is well', BOUND_MS, () => (submitter.status().trouble === undefined ? true : undefined))
    assert.ok(errors.length > 0)
  })

  it('signs nothing while the endpoint serves another chain', async () => {
    const { start, transfer, chain, seen, nonce } = account
    let isOther = true
    const otherNonce: Chain['nonce'] = async (...args) => (await chain.nonce(...args)) + (isOther ? 40 : 0)
    const other = createChain({ ...chain.parameters, chainId: chain.parameters.chainId + 1 })
    const checkId = () => (isOther ? other.checkId() : chain.checkId())
    const submitter = await start({ on: { nonce: otherNonce, checkId } })
    const waiting = submitter.submit('a', transfer(1n))
    const trouble = await eventually('the trouble is told', BOUND_MS, () => submitter.status().trouble)
    assert.match(trouble.message, /The chain endpoint is of chain/)
    assert.deepEqual(seen, [])
    isOther = false
    assert.ok((await waiting).receipt.succeeded)
    assert.equal(await nonce(), 1)
  })

  it('lets other transactions pass one that the endpoint rejects', async () => {
    const { start, transfer, chain } = account
    const choked = transfer(666n)
    const down = Object.assign(new Error('out of gas'), { code: 'settlement_unavailable', status: 503 })
    const simulate: Chain['simulate'] = (from, call) =>
      call.data === choked.data ? Promise.reject(down) : chain.simulate(from, call)
    const submitter = await start({ on: { simulate } })
    const waiting = submitter.submit('choked', choked)
    assert.ok((await submitter.submit('fine', transfer(1n))).receipt.succeeded)
    await assert.rejects(Promise.all([waiting, submitter.stop()]), { code: 'settlement_pending' })
  })

  it('sends nothing more after the store has failed', async () => {
    const { start, store, transfer, sent } = account
    let writes = 0
    const put = (collection: string, key: string, value: string) =>
      ++writes === 2 ? Promise.reject(new Error('disk')) : store.documents.put(collection, key, value)
    const errors: unknown[] = []
    const submitter = await start({ documents: { ...store.documents, put }, errors })
    await assert.rejects(submitter.submit('a', transfer(1n)), { code: 'internal_error' })
    await assert.rejects(submitter.submit('b', transfer(1n)), { code: 'settlement_unavailable' })
    assert.equal(errors.length, 1)
    assert.equal(await sent(), 0n)
  })

  for (const isWritten of [false, true]) {
    it(`continues after the database was away, if its write ${isWritten ? 'had' : 'had not'} arrived`, async () => {
      const { start, store, transfer, final, sent, nonce } = account
      let writes = 0
      // The first write is the plan, whose caller gets the error.
      const put = async (collection: string, key: string, value: string) => {
        const isAway = ++writes % 2 === 0
        if (!isAway || isWritten) await store.documents.put(collection, key, value)
        if (isAway) throw new SoukError('store_unavailable')
      }
      const errors: unknown[] = []
      const submitter = await start({ documents: { ...store.documents, put }, errors })
      await submitter.submit('a', transfer(1n))
      await final(submitter, 'a')
      assert.ok(errors.length > 0)
      assert.deepEqual([await sent(), await nonce()], [1n, 1])
    })
  }

  it('sends a plan that was written though the database did not say so, and tells its caller', async () => {
    const { start, store, transfer, final, sent } = account
    let writes = 0
    const put = async (collection: string, key: string, value: string) => {
      await store.documents.put(collection, key, value)
      if (++writes === 1) throw new SoukError('store_unavailable')
    }
    const submitter = await start({ documents: { ...store.documents, put } })
    const mined = await within('it is mined', BOUND_MS, submitter.submit('a', transfer(1n)))
    assert.ok(mined.receipt.succeeded)
    await final(submitter, 'a')
    assert.equal(await sent(), 1n)
  })

  it('rejects a plan that the database did not get, and takes it again', async () => {
    const { start, store, transfer, sent } = account
    let writes = 0
    const put = async (collection: string, key: string, value: string) => {
      if (++writes === 1) throw new SoukError('store_unavailable')
      await store.documents.put(collection, key, value)
    }
    const submitter = await start({ documents: { ...store.documents, put } })
    const first = within('it is rejected', BOUND_MS, submitter.submit('a', transfer(1n)))
    await assert.rejects(first, { code: 'store_unavailable' })
    assert.ok((await within('it is mined', BOUND_MS, submitter.submit('a', transfer(1n)))).receipt.succeeded)
    assert.equal(await sent(), 1n)
  })

  it('notifies a listener again after it failed', async () => {
    const { start, transfer, final } = account
    const submitter = await start()
    let told = 0
    submitter.onFinal(() => {
      if (++told < 3) throw new Error('not now')
    })
    await submitter.submit('a', transfer(1n))
    await final(submitter, 'a')
    assert.equal(told, 3)
  })
})
