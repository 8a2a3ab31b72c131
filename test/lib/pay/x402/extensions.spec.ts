import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import { extractDiscoveryInfo, validateDiscoveryExtension } from '@x402/extensions/bazaar'
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  isEIP712SignedOffer,
  isEIP712SignedReceipt,
  verifyOfferSignatureEIP712,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureEIP712
} from '@x402/extensions/offer-receipt'
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  validatePaymentIdentifier
} from '@x402/extensions/payment-identifier'
import { wrapFetchWithPayment } from '@x402/fetch'
import { PAYMENT_CHARS_MAX } from '../../../../lib/base/limits/call.ts'
import { checksummed } from '../../../../lib/pay/signing/address.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

/** The client and the judge are x402's own code. */
describe('x402 extensions', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string
  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(await bench.startConsumer(owner))}/api/demo/api/counter`
  })
  after(() => bench.close())
  beforeEach(() => {
    owner.api.runs = 0
  })

  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const required = async (at = url): Promise<PaymentRequired> =>
    decodePaymentRequiredHeader((await fetch(at, request)).headers.get('payment-required')!)
  const clients = {
    exact: (name: string) => x402Client.fromConfig(bench.stock(name)),
    'batch-settlement': (name: string) => x402Client.fromConfig(bench.batch(name).config)
  }

  describe('offer-receipt', () => {
    it('signs each offer with the owner’s settlement key, for the URL of the API', async () => {
      for (const at of [url, `${url}?x=1`]) {
        const asked = await required(at)
        const offers = extractOffersFromPaymentRequired(asked)
        assert.equal(offers.length, asked.accepts.length)
        for (const offer of offers) {
          assert.ok(isEIP712SignedOffer(offer))
          const { signer, payload } = await verifyOfferSignatureEIP712(offer)
          assert.equal(signer, checksummed(bench.owner.address))
          assert.deepEqual([payload.resourceUrl, asked.resource.url], [url, url])
          assert.equal(findAcceptsObjectFromSignedOffer(offer, asked.accepts), asked.accepts[offer.acceptIndex!])
          assert.ok(payload.validUntil > Date.now() / 1_000)
        }
      }
    })

    it('signs no offer for a URL of something else', async () => {
      const souk = owner.souk
      for (const at of [
        'https://bank.example/api/other',
        'ftp://x/api/counter',
        'https://x/api/counter?q=1',
        'counter'
      ]) {
        const headers = [['souk-resource', at]] as const
        const asked = await souk
          .call({ api: 'counter', headers, body: {}, payment: '' })
          .catch((error: unknown) => error)
        const { x402 } = (asked as { members: { x402: { accepts: unknown[]; extensions: object } } }).members
        assert.ok(x402.accepts.length > 0)
        assert.equal('offer-receipt' in x402.extensions, false, at)
      }
    })

    for (const scheme of ['exact', 'batch-settlement'] as const) {
      it(`gives a client that pays by ${scheme} a receipt that matches the offer, also with a repeat`, async () => {
        const payer = await bench.payer(`receipt ${scheme}`, USDC)
        const asked = await required()
        const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(asked))
        const payload = await clients[scheme](`receipt ${scheme}`).createPaymentPayload(asked)
        const text = encodePaymentSignatureHeader(payload)
        assert.ok(text.length < PAYMENT_CHARS_MAX * 0.9, `${text.length} characters`)
        for (let times = 0; times < 2; times++) {
          const response = await fetch(url, { ...request, headers: { ...request.headers, 'payment-signature': text } })
          assert.equal(response.status, 200, await response.clone().text())
          const receipt = extractReceiptFromResponse(response)
          assert.ok(receipt !== undefined && isEIP712SignedReceipt(receipt))
          assert.equal((await verifyReceiptSignatureEIP712(receipt)).signer, checksummed(bench.owner.address))
          assert.equal(verifyReceiptMatchesOffer(receipt, offer!, [payer]), true)
          assert.equal(verifyReceiptMatchesOffer(receipt, offer!, [bench.provider]), false)
        }
        assert.equal(owner.api.runs, 1)
      })
    }

    it('gives no receipt for a failed call, or to a client that does not know the extension', async () => {
      await bench.payer('plain', USDC)
      const payload = await clients.exact('plain').createPaymentPayload(await required())
      delete payload.extensions
      const headers = { ...request.headers, 'payment-signature': encodePaymentSignatureHeader(payload) }
      const response = await fetch(url, { ...request, headers })
      assert.equal(response.status, 200)
      assert.equal(extractReceiptFromResponse(response), undefined)
      assert.equal(decodePaymentResponseHeader(response.headers.get('payment-response')!).success, true)
    })
  })

  it('payment-identifier: two payments of one id run one call', async () => {
    const payer = await bench.payer('named', USDC)
    const id = generatePaymentId()
    const pay = () => {
      const client = clients.exact('named')
      client.onBeforePaymentCreation(async ({ paymentRequired: { extensions = {} } }) => {
        const declared = extensions['payment-identifier']
        assert.equal(validatePaymentIdentifier(declared).valid, true)
        appendPaymentIdentifierToExtensions(extensions, id)
      })
      return wrapFetchWithPayment(fetch, client)(url, request)
    }
    const responses = [await pay(), await pay()]
    assert.deepEqual(await Promise.all(responses.map(async (each) => [each.status, await each.json()])), [
      [200, { run: 1 }],
      [200, { run: 1 }]
    ])
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it('bazaar: the 402 says how to call the API, and a facilitator finds it in the payment', async () => {
    await bench.payer('finder', USDC)
    const asked = await required()
    const { bazaar } = asked.extensions as { bazaar: Parameters<typeof validateDiscoveryExtension>[0] }
    assert.deepEqual(validateDiscoveryExtension(bazaar), { valid: true })
    const payload = await clients.exact('finder').createPaymentPayload(asked)
    const found = extractDiscoveryInfo(payload, asked.accepts[0]!)
    assert.deepEqual([found?.resourceUrl, found?.x402Version], [url, 2])
    assert.equal(found !== null && 'method' in found && found.method, 'POST')
  })
})
