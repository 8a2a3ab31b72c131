import assert from 'node:assert/strict'
import { type ClientInit, createClient, type PaymentHook } from '../../client/index.ts'
import { SoukError as NodeError } from '../../lib/index.ts'
import type { CallInit } from '../../lib/interface/index.ts'
import { manifestOf } from '../lib/resolve/fixtures.ts'
import { answer, PROVIDER, type Running, startIngress } from '../node/ingress/harness.ts'
import { fails } from './fails.ts'

describe('payments of souk/client', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress({ x402: true })
  })
  beforeEach(() => {
    ingress.calls.length = 0
  })
  after(() => ingress.close())
  const last = (): CallInit => ingress.calls.at(-1)!
  const OPTION = { scheme: 'exact', network: 'eip155:1', asset: '0x', payTo: '0x', maxTimeoutSeconds: 9, extra: {} }
  const options = [OPTION, { ...OPTION, network: 'eip155:2' }].map((option, i) => ({
    ...option,
    amount: String(1_000 + i)
  }))
  let name: string

  beforeEach(() => {
    // The ingress caches terms by name.
    name = `priced-${Math.random().toString(36).slice(2)}`
    const manifest = manifestOf(PROVIDER, { name, price: 1_000n })
    ingress.onResolve = async () => ({
      signed: { id: `${name}@${PROVIDER}`, manifest, envelope: new Uint8Array(0) },
      owners: []
    })
    ingress.onCall = ({ payment }) => {
      if (payment === 'cGFpZA==') return answer()
      throw new NodeError('payment_required', 'Pay.', { source: 'owner', members: { x402: { accepts: options } } })
    }
  })
  const paying = (init: Partial<ClientInit>) => createClient({ ingress: ingress.url, ...init })

  it('are asked for with the terms, and sent with the same call', async () => {
    const asked: unknown[] = []
    const payment: ClientInit['payment'] = (terms) => {
      asked.push([terms.x402Version, terms.accepts, terms.resource.url])
      return { 'payment-signature': 'cGFpZA==' }
    }
    const { body } = await paying({ payment, maxPrice: '0.001' }).call(name, 'a', { b: 1 }, { idempotencyKey: 'k' })
    assert.deepEqual(body, { ok: true })
    // Only what the cap allows.
    assert.deepEqual(asked, [[2, [options[0]], `${ingress.url}/api/demo/api/${name}`]])
    assert.deepEqual(
      [JSON.parse(Buffer.from(last().body as Uint8Array).toString()), last().payment, last().idempotencyKey],
      [{ b: 1, operation: 'a' }, 'cGFpZA==', 'k']
    )
  })

  it('are not asked for above the price cap', async () => {
    const payment = () => assert.fail('asked')
    await fails(paying({ payment, maxPrice: '0.000999' }).call(name, 'a'), 'price_exceeds_limit')
    await fails(paying({ payment }).call(name, 'a', {}, { maxPrice: '0' }), 'price_exceeds_limit')
  })

  it('are asked for once, and not at all with a key', async () => {
    let times = 0
    const payment = () => `${++times}AAA`
    await fails(paying({ payment }).call(name, 'a'), 'payment_required')
    await fails(paying({ payment: () => ({}) }).call(name, 'a'), 'payment_malformed')
    // A hook in JavaScript that forgets to return.
    await fails(paying({ payment: (() => undefined) as unknown as PaymentHook }).call(name, 'a'), 'payment_malformed')
    await fails(paying({ payment, key: ingress.key }).call(name, 'a'), 'payment_required')
    assert.equal(times, 1)
  })

  it('are sent again with a call that was not accepted', async () => {
    let times = 0
    const payments: unknown[] = []
    ingress.onCall = ({ payment }) => {
      if (payment === '') throw new NodeError('payment_required', 'Pay.', { members: { x402: { accepts: options } } })
      payments.push(payment)
      if (payments.length === 2) return answer()
      throw new NodeError('overloaded', undefined, { notAccepted: true })
    }
    await paying({ payment: () => `${++times}AAA` }).call(name, 'a')
    assert.deepEqual(payments, ['1AAA', '1AAA'])
  })
})
