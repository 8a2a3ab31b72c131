import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import { systemClock } from '../../../../lib/base/clock.ts'
import type { Problem } from '../../../../lib/base/errors.ts'
import { systemRandom } from '../../../../lib/base/random.ts'
import { requestIds } from '../../../../lib/base/request-id.ts'
import { checksummed } from '../../../../lib/pay/signing/address.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 exact, of clients without a key', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let consumer: Awaited<ReturnType<KeylessBench['startConsumer']>>
  let url: string

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    consumer = await bench.startConsumer(owner)
    url = `${await bench.startIngress(consumer)}/api/demo/api/counter`
  })
  after(() => bench.close())
  beforeEach(() => {
    owner.api.runs = 0
  })

  const post = (headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })

  it('is offered by a node that does not own the API and holds no money', async () => {
    const response = await post()
    const problem = (await response.json()) as Problem
    assert.equal(response.status, 402)
    assert.equal(problem.code, 'payment_required')
    const required = decodePaymentRequiredHeader(response.headers.get('payment-required')!)
    assert.equal(required.x402Version, 2)
    assert.equal(required.resource.url, url)
    const exact = required.accepts.find(({ scheme }) => scheme === 'exact')!
    assert.equal(exact.amount, PRICE.toString())
    assert.equal(exact.payTo, checksummed(bench.splitter))
    assert.equal(owner.api.runs, 0)
  })

  it('works with the unmodified @x402/fetch', async () => {
    const payer = await bench.payer('fetch', USDC)
    const before = await bench.collected()
    const response = await bench.fetchOf('fetch')(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}'
    })
    assert.equal(response.status, 200, await response.clone().text())
    assert.deepEqual(await response.json(), { run: 1 })
    assert.equal(response.headers.get('souk-charged'), '0.04')
    const settled = decodePaymentResponseHeader(response.headers.get('payment-response')!)
    assert.equal(settled.success, true)
    assert.equal(settled.payer?.toLowerCase(), payer)
    assert.equal(
      (await bench.client.getTransactionReceipt({ hash: settled.transaction as `0x${string}` })).status,
      'success'
    )
    assert.equal(await bench.usdc(payer), USDC - PRICE)
    assert.equal((await bench.collected()) - before, PRICE)
  })

  it('reports the charged price, even through a node that does not know a new price', async () => {
    const payer = await bench.payer('raised', USDC)
    const terms = { name: 'rising', payout: bench.provider }
    const charged: Array<string | null> = []
    for (const price of ['0.03', '0.05']) {
      await owner.souk.serve({ ...terms, price }, owner.api)
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
      // Nodes cache an owner's offers for seconds and its listings for a minute. A payment of the old price is rejected.
      const response = await eventually('a call that is paid', 20_000, async () => {
        const tried = await bench.fetchOf('raised')(url.replace(/counter$/, 'rising'), init)
        return tried.status === 200 ? tried : undefined
      })
      charged.push(response.headers.get('souk-charged'))
    }
    assert.deepEqual(charged, ['0.03', '0.05'])
    assert.equal(await bench.usdc(payer), USDC - 80_000n)
  })

  it('works with @x402/axios', async () => {
    const payer = await bench.payer('axios', USDC)
    const response = await bench.axiosOf('axios').post(url, {})
    assert.deepEqual(response.data, { run: 1 })
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  /** A payment signed by the standard client, with a test's changes. */
  async function payment(name: string, change: (payload: PaymentPayload) => void = () => {}): Promise<string> {
    const required = decodePaymentRequiredHeader((await post()).headers.get('payment-required')!)
    const payload = await x402Client.fromConfig(bench.stock(name)).createPaymentPayload(required)
    const copy = structuredClone(payload)
    change(copy)
    return encodePaymentSignatureHeader(copy)
  }
  const pay = (text: string, body = '{}', headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'payment-signature': text, ...headers },
      body
    })
  const authorizationOf = ({ payload }: PaymentPayload) => payload['authorization'] as Record<string, string>

  it('pays for one call, for any number of repeats: ten concurrent ones run it once', async () => {
    const payer = await bench.payer('tenfold', USDC)
    const text = await payment('tenfold')
    const responses = await Promise.all(Array.from({ length: 10 }, () => pay(text)))
    for (const response of responses) {
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), { run: 1 })
      assert.ok(response.headers.has('payment-response'))
    }
    assert.equal(owner.api.runs, 1)
    assert.equal(await bench.usdc(payer), USDC - PRICE)
    const later = await pay(text)
    assert.deepEqual([later.status, await later.json(), owner.api.runs], [200, { run: 1 }, 1])
  })

  it('counts if another sender submits its transfer during the call, and pays for one call', async () => {
    const payer = await bench.payer('overtaken', USDC)
    const text = await payment('overtaken')
    const { answer } = owner.api
    owner.api.answer = async () => {
      await bench.frontRun(text)
      return reply(200, { run: owner.api.runs })
    }
    try {
      const response = await pay(text)
      assert.deepEqual([response.status, await response.json()], [200, { run: 1 }])
      const settled = decodePaymentResponseHeader(response.headers.get('payment-response')!)
      const hash = settled.transaction as `0x${string}`
      assert.notEqual((await bench.client.getTransaction({ hash })).from.toLowerCase(), bench.owner.address)
      assert.equal(await bench.usdc(payer), USDC - PRICE)
    } finally {
      owner.api.answer = answer
    }
    const again = await pay(text)
    assert.deepEqual([again.status, await again.json(), owner.api.runs], [200, { run: 1 }, 1])
    assert.equal((await pay(text, '{"other":true}')).status, 409)
  })

  it('counts if another sender submits its transfer before the call, only for the payer', async () => {
    await bench.payer('foreseen', USDC)
    const text = await payment('foreseen')
    await bench.frontRun(text)
    const forged = await payment('foreseen', ({ payload }) => {
      payload['signature'] = `0x${'11'.repeat(64)}1b`
    })
    const stolen = await payment('foreseen', (payload) => {
      const { nonce } = authorizationOf(JSON.parse(Buffer.from(text, 'base64').toString()) as PaymentPayload)
      authorizationOf(payload)['nonce'] = nonce ?? ''
    })
    for (const another of [forged, stolen]) assert.equal((await pay(another)).status, 402)
    assert.equal(owner.api.runs, 0)
    const response = await pay(text)
    assert.deepEqual([response.status, await response.json()], [200, { run: 1 }])
  })

  it('does not count if its authorisation was revoked', async () => {
    const payer = await bench.payer('revoked', USDC)
    await bench.fundGas(payer)
    const text = await payment('revoked')
    await bench.revoke('revoked', text)
    const response = await pay(text)
    assert.deepEqual([response.status, owner.api.runs], [402, 0])
    assert.equal(await bench.usdc(payer), USDC)
  })

  it('does not pay for another request', async () => {
    await bench.payer('other', USDC)
    const text = await payment('other')
    assert.equal((await pay(text)).status, 200)
    const response = await pay(text, '{"other":true}')
    assert.deepEqual([response.status, await codeOf(response)], [409, 'payment_id_conflict'])
    assert.equal(owner.api.runs, 1)
  })

  it('does not run a charged call again under its id, whatever payment comes with it', async () => {
    await bench.payer('again', USDC)
    const requestId = requestIds(systemClock, systemRandom).next()
    const call = async () =>
      consumer.souk.call({ api: 'counter', body: {}, requestId, payment: await payment('again') })
    assert.equal((await call()).charged, PRICE)
    for (let i = 0; i < 2; i++) await assert.rejects(call(), { code: 'idempotency_mismatch' })
    assert.equal(owner.api.runs, 1)
    assert.equal((await pay(await payment('again'))).status, 200)
  })

  it('is not collected if the API fails, and can be used again', async () => {
    const payer = await bench.payer('unlucky', USDC)
    const text = await payment('unlucky')
    const { answer } = owner.api
    owner.api.answer = () => reply(500, { broken: true })
    try {
      const broken = await pay(text)
      assert.equal(broken.status, 500)
      assert.equal(broken.headers.get('souk-charged'), '0')
      assert.equal(broken.headers.get('payment-response'), null)
      assert.equal(await bench.usdc(payer), USDC)
    } finally {
      owner.api.answer = answer
    }
    const again = await pay(text)
    assert.deepEqual([again.status, await again.json()], [200, { run: 2 }])
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it('is pending on a slow chain: the same payment gets the response later, and the API runs once', async () => {
    const payer = await bench.payer('patient', USDC)
    const text = await payment('patient')
    await bench.mining(false)
    try {
      for (let i = 0; i < 2; i++) {
        const pending = await pay(text)
        assert.deepEqual([pending.status, await codeOf(pending)], [503, 'settlement_pending'])
        assert.ok(pending.headers.has('retry-after'))
      }
    } finally {
      await bench.mining(true)
    }
    const answer = await bench.eventually('the response', 5_000, async () => {
      const response = await pay(text)
      return response.status === 200 ? response : undefined
    })
    assert.deepEqual(await answer.json(), { run: 1 })
    assert.equal(owner.api.runs, 1)
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it("is recognised by the client's name for it", async () => {
    const payer = await bench.payer('named', USDC)
    const named = (payload: PaymentPayload) => {
      payload.extensions = { 'payment-identifier': { info: { required: false, id: 'order-0123456789' } } }
    }
    assert.equal((await pay(await payment('named', named))).status, 200)
    const again = await pay(await payment('named', named))
    assert.deepEqual([again.status, await again.json(), owner.api.runs], [200, { run: 1 }, 1])
    const other = await pay(await payment('named', named), '{"other":true}')
    assert.deepEqual([other.status, await codeOf(other)], [409, 'payment_id_conflict'])
    assert.equal(await bench.usdc(payer), USDC - PRICE)
    await bench.payer('thief', USDC)
    const stolen = await payment('thief', (payload) => {
      named(payload)
      authorizationOf(payload)['from'] = payer
    })
    assert.equal((await pay(stolen)).status, 402)
  })

  it('is recognised by its idempotency key, which belongs to its payer', async () => {
    const payer = await bench.payer('keyed', USDC)
    const key = { 'idempotency-key': 'order-7' }
    const first = await pay(await payment('keyed'), '{}', key)
    assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [200, null])
    const again = await pay(await payment('keyed'), '{}', key)
    assert.deepEqual([again.status, await again.json(), owner.api.runs], [200, { run: 1 }, 1])
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.headers.get('souk-charged')], ['true', '0'])
    const other = await pay(await payment('keyed'), '{"other":true}', key)
    assert.deepEqual([other.status, await codeOf(other)], [422, 'idempotency_mismatch'])
    assert.equal(await bench.usdc(payer), USDC - PRICE)

    await bench.payer('another', USDC)
    const theirs = await pay(await payment('another'), '{}', key)
    assert.deepEqual([theirs.status, await theirs.json()], [200, { run: 2 }])
    const stolen = await payment('another', (payload) => {
      authorizationOf(payload)['from'] = payer
    })
    assert.equal((await pay(stolen, '{}', key)).status, 402)
    assert.equal(owner.api.runs, 2)
  })

  it('with an idempotency key runs once for ten concurrent calls with separate payments', async () => {
    const payer = await bench.payer('hasty', USDC)
    const texts: string[] = []
    while (texts.length < 10) texts.push(await payment('hasty'))
    const key = { 'idempotency-key': 'order-8' }
    const responses = await Promise.all(texts.map((text) => pay(text, '{}', key)))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.equal(owner.api.runs, 1)
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  describe('is rejected with the offers, without running the call', () => {
    const refusals: ReadonlyArray<readonly [string, string, (payload: PaymentPayload) => void]> = [
      [
        'with a changed signature',
        'invalid_exact_evm_signature',
        ({ payload }) => {
          const signature = payload['signature'] as string
          payload['signature'] = `${signature.slice(0, 20)}${signature[20] === 'a' ? 'b' : 'a'}${signature.slice(21)}`
        }
      ],
      [
        'for another amount',
        'invalid_exact_evm_payload_authorization_value_mismatch',
        (payload) => (authorizationOf(payload)['value'] = '1')
      ],
      [
        'to another payee',
        'invalid_exact_evm_recipient_mismatch',
        (payload) => (authorizationOf(payload)['to'] = bench.provider)
      ],
      [
        'when it has expired',
        'invalid_exact_evm_payload_authorization_valid_before',
        (payload) => (authorizationOf(payload)['validBefore'] = '1700000000')
      ],
      [
        'for another network',
        'invalid_exact_evm_network_mismatch',
        ({ accepted }) => (accepted.network = 'eip155:8453')
      ],
      ['of another scheme', 'unsupported_scheme', ({ accepted }) => (accepted.scheme = 'upto')]
    ]
    for (const [how, reason, change] of refusals) {
      it(how, async () => {
        const payer = await bench.payer('refused', USDC)
        const before = await bench.usdc(payer)
        const response = await pay(await payment('refused', change))
        assert.equal(response.status, 402)
        const required = decodePaymentRequiredHeader(response.headers.get('payment-required')!)
        assert.equal(required.error, reason)
        assert.equal(required.accepts[0]?.amount, PRICE.toString())
        assert.equal(await codeOf(response), 'payment_rejected')
        assert.equal(owner.api.runs, 0)
        assert.equal(await bench.usdc(payer), before)
      })
    }

    it('of an account with too little balance, even if only the sum of all is too much', async () => {
      await bench.payer('poor', PRICE - 1n)
      const poor = await pay(await payment('poor'))
      assert.deepEqual([poor.status, await codeOf(poor)], [402, 'insufficient_funds'])
      const payer = await bench.payer('stretched', PRICE * 2n)
      const texts = await Promise.all(Array.from({ length: 6 }, () => payment('stretched')))
      const responses = await Promise.all(texts.map((text) => pay(text)))
      const statuses = responses.map(({ status }) => status).sort((a, b) => a - b)
      assert.deepEqual(statuses, [200, 200, 402, 402, 402, 402])
      assert.equal(owner.api.runs, 2)
      assert.equal(await bench.usdc(payer), 0n)
    })

    it('that is malformed', async () => {
      const notPaid = Buffer.from('{"x402Version":2}').toString('base64')
      const noNumbers = await payment('refused', (payload) => (authorizationOf(payload)['value'] = '-1'))
      const noUint256 = await payment(
        'refused',
        (payload) => (authorizationOf(payload)['validBefore'] = '9'.repeat(78))
      )
      for (const text of ['garbage!', 'Z2FyYmFnZQ==', notPaid, noNumbers, noUint256, 'A'.repeat(9_000)]) {
        const response = await pay(text)
        assert.deepEqual([response.status, await codeOf(response)], [400, 'payment_malformed'], text.slice(0, 20))
      }
      assert.equal(owner.api.runs, 0)
    })
  })

  it('is booked as lost if the payer moves the money during the call; the response is withheld', async () => {
    const payer = await bench.payer('slippery', PRICE)
    await bench.fundGas(payer)
    const text = await payment('slippery')
    await bench.mining(false)
    try {
      const pending = await pay(text)
      assert.equal(await codeOf(pending), 'settlement_pending')
      await bench.moveAway('slippery', PRICE)
    } finally {
      await bench.mining(true)
    }
    const refused = await bench.eventually('the end', 10_000, async () => {
      const response = await pay(text)
      return response.status === 503 ? undefined : response
    })
    assert.deepEqual([refused.status, await codeOf(refused)], [402, 'payment_rejected'])
    assert.ok(refused.headers.has('payment-required'))
    assert.equal(owner.api.runs, 1)
    const { ledger } = owner.store
    assert.equal(await ledger.balance(`lost/exact/${bench.splitter}`), PRICE)
    assert.equal(await ledger.balance(`receivable/exact/${bench.splitter}`), 0n)
  })

  it('pays a node that owns the API in the same way, for a stream before its first chunk', async () => {
    const payer = await bench.payer('local', USDC)
    const own = `${await bench.startIngress(owner)}/api/demo/api/counter`
    const { answer } = owner.api
    owner.api.answer = () => ({ ...reply(200, {}), body: chunks() })
    async function* chunks() {
      assert.equal(await bench.usdc(payer), USDC - PRICE)
      yield Buffer.from('one,')
      yield Buffer.from('two')
    }
    try {
      const response = await bench.fetchOf('local')(own, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}'
      })
      assert.equal(response.headers.get('souk-charged'), '0.04')
      assert.equal(await response.text(), 'one,two')
    } finally {
      owner.api.answer = answer
    }
  })

  it('pays provider and treasury 95 to 5, exact to the atom', async () => {
    const due = await bench.usdc(bench.splitter)
    const [provider, treasury] = await Promise.all([bench.usdc(bench.provider), bench.usdc(bench.treasury)])
    await owner.paymentScheme.settlement.redeemer.settleNow()
    const share = (due * 5n) / 100n
    assert.equal((await bench.usdc(bench.treasury)) - treasury, share)
    assert.equal((await bench.usdc(bench.provider)) - provider, due - share)
    assert.equal(await bench.usdc(bench.splitter), 0n)
    const { ledger } = owner.store
    const lost = await ledger.balance(`lost/exact/${bench.splitter}`)
    assert.equal(await ledger.balance(`earned/exact/${bench.splitter}`), -due - lost)
    assert.equal(await ledger.balance(`receivable/exact/${bench.splitter}`), 0n)
  })
})

const codeOf = async (response: Response) => ((await response.json()) as Problem).code
