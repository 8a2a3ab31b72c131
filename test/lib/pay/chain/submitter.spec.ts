import assert from 'node:assert/strict'
import { FEE_BUMPS_MAX, FEE_WEI_MAX, SUBMISSIONS_IN_FLIGHT_MAX } from '../../../../lib/base/limits/chain.ts'
import type { Mined } from '../../../../lib/interface/submitter.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { submitterBench } from '../../../helpers/submitter-bench.ts'

const BOUND_MS = 10_000

describe('the submitter', () => {
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

  it('gets a call mined, and reports when it is final', async () => {
    const { start, transfer, sent, final, signer } = account
    const submitter = await start()
    const told: Mined[] = []
    submitter.onFinal((mined) => void told.push(mined))
    const mined = await submitter.submit('a', transfer(5n))
    assert.ok(mined.receipt.succeeded)
    assert.equal(mined.isFinal, false)
    assert.equal(await sent(), 5n)
    const status = { address: signer.address, planned: 0, unmined: 0, unfinal: 1, hasNoGas: false }
    assert.deepEqual(submitter.status(), status)
    assert.deepEqual(await final(submitter, 'a'), { ...mined, isFinal: true })
    assert.deepEqual(told, [{ ...mined, isFinal: true }])
    assert.equal(submitter.status().unfinal, 0)
  })

  it('makes one transaction per key, for any number of requests at any time', async () => {
    const { start, transfer, sent, final, nonce } = account
    const submitter = await start()
    const both = await Promise.all([submitter.submit('a', transfer(5n)), submitter.submit('a', transfer(5n))])
    assert.deepEqual(both[0], both[1])
    assert.deepEqual(await submitter.submit('a', transfer(5n)), both[0])
    await assert.rejects(submitter.submit('a', transfer(6n)), { code: 'payment_id_conflict' })
    await submitter.stop()
    const next = await start()
    assert.deepEqual(await next.submit('a', transfer(5n)), both[0])
    await final(next, 'a')
    assert.equal((await next.submit('a', transfer(5n))).hash, both[0].hash)
    await assert.rejects(next.submit('a', transfer(6n)), { code: 'payment_id_conflict' })
    assert.equal(await sent(), 5n)
    assert.equal(await nonce(), 1)
  })

  it('sends many at once, with consecutive nonces', async () => {
    const { start, transfer, nonce } = account
    const submitter = await start()
    const keys = Array.from({ length: 3 * SUBMISSIONS_IN_FLIGHT_MAX }, (_, i) => `many ${i}`)
    const mined = await Promise.all(keys.map((key, i) => submitter.submit(key, transfer(BigInt(i)))))
    assert.ok(mined.every(({ receipt }) => receipt.succeeded))
    assert.equal(await nonce(), keys.length)
  })

  it('rejects a call that the chain would reject, before anything is sent', async () => {
    const { start, transfer, store, signer, seen } = account
    const submitter = await start()
    await assert.rejects(submitter.submit('too much', transfer(10n ** 12n)), {
      code: 'payment_rejected',
      message: /exceeds balance/
    })
    assert.deepEqual(await store.documents.list(`transactions/31337/${signer.address}`), [])
    assert.deepEqual(seen, [])
    assert.ok((await submitter.submit('too much', transfer(1n))).receipt.succeeded)
  })

  it('reports missing gas, and continues when there is some', async () => {
    const { start, transfer, signer, nonce } = account
    const submitter = await start()
    await bench.fundGas(signer.address, 1_000n)
    await assert.rejects(submitter.submit('poor', transfer(1n)), {
      code: 'settlement_unavailable',
      message: `${signer.address} has too little ETH on this chain for the gas.`
    })
    await submitter.stop()
    await bench.fundGas(signer.address)
    const dry = await start({ on: { broadcast: () => Promise.resolve('no_gas') } })
    const lost = dry.submit('dry', transfer(1n))
    await eventually('no gas is told', BOUND_MS, () => (dry.status().hasNoGas ? true : undefined))
    await assert.rejects(Promise.all([lost, dry.stop()]), { code: 'settlement_pending' })
    const rich = await start()
    assert.ok((await rich.submit('dry', transfer(1n))).receipt.succeeded)
    assert.equal(await nonce(), 1)
  })

  it('frees the key of a finally failed transaction', async () => {
    const { start, transfer, sent, final } = account
    const submitter = await start({ on: { simulate: () => Promise.resolve({ ok: true, gas: 70_000n }) } })
    const failed = await submitter.submit('a', transfer(10n ** 12n))
    assert.equal(failed.receipt.succeeded, false)
    assert.equal((await submitter.submit('a', transfer(10n ** 12n))).hash, failed.hash)
    await final(submitter, 'a')
    assert.ok((await submitter.submit('a', transfer(2n))).receipt.succeeded)
    assert.equal(await sent(), 2n)
  })

  it('raises the fee of a stuck transaction, under the same nonce', async () => {
    const { start, transfer, sent, nonce, seen, mine, final } = account
    await bench.client.setAutomine(false)
    const submitter = await start()
    const both = Promise.all([submitter.submit('stuck', transfer(1n)), submitter.submit('behind', transfer(2n))])
    await eventually('the fee is raised', BOUND_MS, () => (new Set(seen).size >= 4 ? true : undefined))
    await mine()
    const [{ hash }] = await both
    const transaction = await bench.client.getTransaction({ hash })
    assert.equal(transaction.nonce, 0)
    assert.ok((transaction.maxFeePerGas ?? 0n) <= FEE_WEI_MAX)
    assert.equal(await sent(), 3n)
    assert.equal(await nonce(), 2)
    await final(submitter, 'stuck')
  })

  it('raises a fee only a limited number of times', async () => {
    const { start, transfer, seen } = account
    const submitter = await start({ on: { broadcast: () => Promise.resolve('fee_too_low') } })
    const waiting = submitter.submit('stuck', transfer(1n))
    await eventually('all versions were sent', BOUND_MS, () => (seen.length > 2 * FEE_BUMPS_MAX + 4 ? true : undefined))
    await assert.rejects(Promise.all([waiting, submitter.stop()]), { code: 'settlement_pending' })
    assert.equal(new Set(seen).size, FEE_BUMPS_MAX + 1)
  })

  it('never pays more for gas than its own limit, whatever the endpoint asks', async () => {
    const { start, transfer, chain } = account
    const greedy = await start({ on: { fees: () => Promise.resolve({ maxFee: 10n ** 13n, tip: 10n ** 13n }) } })
    const { receipt, hash } = await greedy.submit('a', transfer(1n))
    const { maxFeePerGas } = await bench.client.getTransaction({ hash })
    assert.equal(maxFeePerGas, FEE_WEI_MAX)
    assert.ok(receipt.cost <= receipt.gasUsed * FEE_WEI_MAX)
    assert.equal((await chain.receipt(hash))?.succeeded, true)
  })

  it('stops waiting on request, and keeps sending', async () => {
    const { start, transfer, sent, mine } = account
    await bench.client.setAutomine(false)
    const submitter = await start()
    const stop = new AbortController()
    const waiting = submitter.submit('a', transfer(1n), stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await eventually('it is mined', BOUND_MS, async () => {
      await mine()
      return submitter.find('a')
    })
    assert.equal(await sent(), 1n)
  })
})
