import assert from 'node:assert/strict'
import { limits, SoukError, systemClock } from '../../../../lib/index.ts'
import type { Manifest, Resolution } from '../../../../lib/interface/index.ts'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { answer, PROVIDER, type Running, startIngress } from '../harness.ts'

const PATH = '/api/demo/api/ticker'
const OFFER = { error: 'pay', accepts: [{ scheme: 'exact', amount: '1000' }] }
const PAYMENT = Buffer.from('{"x402Version":2}').toString('base64')

describe('ingress: a call without a key', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress({ x402: true, corsOrigins: ['https://app.example'] })
    list({ price: 1_000n })
    ingress.onCall = asked
  })
  afterEach(() => ingress.close())

  const list = (changes: Partial<Manifest>): void => {
    const manifest = manifestOf(PROVIDER, changes)
    const signed = { id: `ticker@${PROVIDER}` as const, manifest, envelope: new Uint8Array(0) }
    ingress.onResolve = async (): Promise<Resolution> => ({ signed, owners: [] })
  }
  const asked = () => {
    throw new SoukError('payment_required', 'Pay.', { source: 'owner', members: { x402: OFFER } })
  }
  const post = (headers: Record<string, string> = {}) =>
    fetch(ingress.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"symbol":"BTC"}'
    })
  const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

  it('returns the owner’s payment requirements for its own URL', async () => {
    const response = await post()
    assert.equal(response.status, 402)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    const header = Buffer.from(response.headers.get('payment-required')!, 'base64').toString()
    const resource = { url: ingress.url + PATH, mimeType: 'application/json' }
    const { extensions, ...required } = JSON.parse(header) as Record<string, Record<string, unknown>>
    assert.deepEqual(required, { x402Version: 2, ...OFFER, resource })
    const challenge = extensions!['souk-challenge'] as { info: { id: string } }
    assert.equal(challenge.info.id, response.headers.get('x-request-id'))
    assert.equal(await codeOf(response), 'payment_required')
  })

  it('requests the terms without any request data, and caches them', async () => {
    await Promise.all([(await post()).text(), (await post()).text()])
    assert.equal(ingress.calls.length, 1)
    const { payment, body } = ingress.calls[0]!
    assert.deepEqual([payment, body], ['', {}])
  })

  it('keeps a limited amount of terms, however many APIs have large ones', async () => {
    await ingress.close()
    // No time passes, so that terms leave for their size only.
    ingress = await startIngress({ x402: true }, { ...systemClock, elapsed: () => 1 })
    list({ price: 1_000n })
    const large = { ...OFFER, note: 'x'.repeat(limits.OFFERS_CACHED_CHARS_MAX / 4) }
    ingress.onCall = () => {
      throw new SoukError('payment_required', 'Pay.', { source: 'owner', members: { x402: large } })
    }
    const ask = async (api: string) => {
      const response = await fetch(ingress.url + PATH.replace('ticker', api), { method: 'POST' })
      assert.equal(await codeOf(response), 'payment_required')
      return ingress.calls.length
    }
    for (const [at, api] of ['a', 'b', 'c', 'd'].entries()) assert.equal(await ask(api), at + 1)
    assert.equal(await ask('d'), 4)
    assert.equal(await ask('a'), 5)
  })

  it('is forwarded with its payment, and returns the payment’s result', async () => {
    ingress.onCall = () => answer({ payment: 'c2V0dGxlZA==' })
    const response = await post({ 'payment-signature': PAYMENT, origin: 'https://app.example' })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('payment-response'), 'c2V0dGxlZA==')
    assert.equal(response.headers.get('souk-charged'), '0.001')
    assert.equal(response.headers.get('access-control-expose-headers'), '*')
    assert.equal(ingress.calls[0]!.payment, PAYMENT)
    assert.equal(ingress.calls[0]!.onPrice, undefined)
  })

  it('is pending if its outcome is unknown: it may have been paid', async () => {
    ingress.onCall = () => {
      throw new SoukError('owner_unreachable', undefined, { source: 'owner', isChargeUnknown: true })
    }
    const response = await post({ 'payment-signature': PAYMENT })
    const problem = (await response.json()) as { code: string; charged: unknown }
    assert.deepEqual([response.status, problem.code, problem.charged], [503, 'settlement_pending', null])
    assert.equal(response.headers.get('retry-after'), String(limits.PAYMENT_UNKNOWN_RETRY_MS / 1_000))
    ingress.onCall = () => {
      throw new SoukError('owner_unreachable', undefined, { source: 'ingress' })
    }
    assert.equal(await codeOf(await post({ 'payment-signature': PAYMENT })), 'owner_unreachable')
  })

  it('returns the state of a settlement that is not known yet', async () => {
    const settlement = { success: false, errorReason: 'settlement_pending', transaction: '0x12' }
    ingress.onCall = () => {
      throw new SoukError('settlement_pending', undefined, { source: 'owner', members: { x402: { settlement } } })
    }
    const response = await post({ 'payment-signature': PAYMENT })
    const header = Buffer.from(response.headers.get('payment-response')!, 'base64').toString()
    assert.deepEqual([response.status, JSON.parse(header)], [503, settlement])
    assert.equal(response.headers.get('payment-required'), null)
  })

  it('needs a key if the API is free, or if owner or ingress does not support payments', async () => {
    list({ price: 0n })
    assert.deepEqual([(await post()).status, ingress.calls.length], [401, 0])
    list({ price: 5n, name: 'other' })
    ingress.onCall = () => {
      throw new SoukError('payment_required', 'This API is called with a key only.', { source: 'owner' })
    }
    const response = await fetch(`${ingress.url}/api/demo/api/other`, { method: 'POST' })
    assert.deepEqual([response.status, await codeOf(response)], [401, 'key_missing'])
    const without = await startIngress({ x402: false })
    const closed = await fetch(without.url + PATH, { method: 'POST', headers: { 'payment-signature': PAYMENT } })
    assert.deepEqual([closed.status, without.calls.length], [401, 0])
    await without.close()
  })

  it('with a key is a call of that key, even with a payment', async () => {
    ingress.onCall = () => answer()
    await ingress.post(PATH, {}, { 'payment-signature': PAYMENT })
    assert.equal(ingress.calls[0]!.payment, undefined)
    const wrong = await ingress.post(PATH, {}, { 'payment-signature': PAYMENT, 'x-consumer-key': 'souk_test_wrong' })
    assert.equal(wrong.status, 401)
  })

  it('is rejected with a malformed payment header', async () => {
    for (const payment of ['', 'not base64!', 'A'.repeat(9_000)]) {
      const response = await post({ 'payment-signature': payment })
      assert.deepEqual([response.status, await codeOf(response)], [400, 'payment_malformed'])
    }
    assert.equal(ingress.calls.length, 0)
  })

  it('has a body of at most 1 MB, because it is buffered before the payment is verified', async () => {
    ingress.onCall = () => answer()
    const response = await fetch(ingress.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'payment-signature': PAYMENT },
      body: JSON.stringify({ text: 'x'.repeat(2 ** 20) })
    })
    assert.deepEqual([response.status, await codeOf(response)], [413, 'request_too_large'])
  })

  it('returns no payment headers of the API, and no malformed ones of the owner', async () => {
    ingress.onCall = () =>
      answer({
        payment: 'no\r\nheader',
        headers: [
          ['payment-response', 'Zm9yZ2Vk'],
          ['x-payment-response', 'Zm9yZ2Vk']
        ]
      })
    const response = await post({ 'payment-signature': PAYMENT })
    assert.equal(response.headers.get('payment-response'), null)
    assert.equal(response.headers.get('x-payment-response'), null)
  })

  it('returns an error if the API is unknown or its owner is offline', async () => {
    ingress.onResolve = () => Promise.reject(new SoukError('api_not_found'))
    assert.equal((await post()).status, 404)
    list({ price: 1_000n })
    ingress.onCall = () => {
      throw new SoukError('owner_unreachable')
    }
    assert.equal((await post()).status, 503)
    ingress.onCall = asked
    assert.equal((await post()).status, 402)
  })
})
