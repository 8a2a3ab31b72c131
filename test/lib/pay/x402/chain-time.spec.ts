import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { CLOCK_SKEW_MS } from '../../../../lib/base/limits/directory.ts'
import { PAYMENT_MARGIN_MS, PAYMENT_REPLAY_MS, PAYMENT_VALID_S } from '../../../../lib/base/limits/pay.ts'
import { toHex } from '../../../../lib/base/hex.ts'
import { readExact } from '../../../../lib/pay/x402/exact-payment.ts'
import { tokenDomain } from '../../../../lib/pay/signing/token-domain.ts'
import { actor } from '../../../helpers/chain.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 exact, at an owner whose clock is behind the chain’s', () => {
  let bench: KeylessBench

  before(async () => {
    bench = await keylessBench({ isPatient: true })
  })
  after(() => bench.close())

  it('refuses a payment that expires before the longest call ends, by the time of the chain', async () => {
    const owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    const url = `${await bench.startIngress(owner)}/api/demo/api/counter`
    const payer = await bench.payer('late', USDC)
    const pay = () =>
      bench.fetchOf('late')(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    assert.equal((await pay()).status, 200)
    const paid = await bench.usdc(payer)
    await bench.client.increaseTime({ seconds: PAYMENT_VALID_S - PAYMENT_MARGIN_MS / 2_000 })
    await bench.client.mine({ blocks: 1 })
    const refused = await pay()
    const { error } = decodePaymentRequiredHeader(refused.headers.get('payment-required') ?? '')
    assert.deepEqual([refused.status, error], [402, 'invalid_exact_evm_payload_authorization_valid_before'])
    assert.deepEqual([owner.api.runs, await bench.usdc(payer)], [1, paid])
  })

  it('takes a payment that is valid since a minute ago, by the time of the chain', async () => {
    const owner = await bench.startOwner()
    await owner.souk.serve({ name: 'slow', price: '0.04', payout: bench.provider }, owner.api)
    const url = `${await bench.startIngress(owner)}/api/demo/api/slow`
    await bench.payer('python', USDC)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const required = decodePaymentRequiredHeader((await fetch(url, init)).headers.get('payment-required') ?? '')
    const payload = await x402Client.fromConfig(bench.stock('python')).createPaymentPayload(required)
    const { timestamp } = await bench.client.getBlock()
    const times = { validAfter: `${timestamp - 60n}`, validBefore: `${timestamp + BigInt(PAYMENT_VALID_S)}` }
    const authorization = { ...(payload.payload['authorization'] as Record<string, string>), ...times }
    const { chainId, usdc } = bench.parameters
    const domain = tokenDomain({ ...usdc, chainId, verifyingContract: usdc.address })
    const digest = domain.transfer(readExact({ authorization, signature: '0x00' }))
    const signature = await actor('python').sign({ hash: toHex(digest) })
    const text = encodePaymentSignatureHeader({ ...payload, payload: { authorization, signature } })
    bench.setClock(-10 * 60_000)
    try {
      const headers = { ...init.headers, 'payment-signature': text }
      assert.equal((await fetch(url, { ...init, headers })).status, 200)
    } finally {
      bench.setClock(0)
    }
  })
})

describe('x402 exact, at an owner whose clock is ahead', () => {
  let bench: KeylessBench

  before(async () => {
    bench = await keylessBench({ isPatient: true })
  })
  after(() => bench.close())

  it('takes the payments of common clients at a clock that `souk doctor` finds right', async () => {
    const owner = await bench.startOwner()
    await owner.souk.serve({ name: 'ahead', price: '0.04', payout: bench.provider }, owner.api)
    const url = `${await bench.startIngress(owner)}/api/demo/api/ahead`
    const payer = await bench.payer('punctual', USDC)
    bench.setClock(CLOCK_SKEW_MS)
    try {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
      assert.equal((await bench.fetchOf('punctual')(url, init)).status, 200)
      assert.equal(await bench.usdc(payer), USDC - PRICE)
    } finally {
      bench.setClock(0)
    }
  })

  it('pays for one call after hours ahead for a moment, and its books agree with the chain', async () => {
    const before = await bench.collected()
    const owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    const url = `${await bench.startIngress(owner)}/api/demo/api/counter`
    await bench.payer('early', USDC)
    const post = (headers: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })
    const payment = async (): Promise<string> => {
      const required = decodePaymentRequiredHeader((await post()).headers.get('payment-required') ?? '')
      // Valid for as long as the clock is ahead.
      const accepts = required.accepts.map((offer) => ({
        ...offer,
        maxTimeoutSeconds: (3 * PAYMENT_REPLAY_MS) / 1_000
      }))
      const signer = x402Client.fromConfig(bench.stock('early'))
      return encodePaymentSignatureHeader(await signer.createPaymentPayload({ ...required, accepts }))
    }
    const pay = async (text: string) => (await post({ 'payment-signature': text })).json()
    const first = await payment()
    assert.deepEqual(await pay(first), { run: 1 })
    bench.setClock(2 * PAYMENT_REPLAY_MS)
    assert.deepEqual(await pay(await payment()), { run: 2 })
    bench.setClock(0)
    assert.deepEqual(await pay(first), { run: 1 })
    const { ledger } = owner.store
    assert.equal((await bench.collected()) - before, 2n * PRICE)
    assert.equal(await ledger.balance(`earned/exact/${bench.splitter}`), -2n * PRICE)
    assert.equal(await ledger.balance(`receivable/exact/${bench.splitter}`), 0n)
  })
})
