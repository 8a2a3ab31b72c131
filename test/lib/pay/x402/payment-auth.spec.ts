import assert from 'node:assert/strict'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import { keccak256, toBytes } from 'viem/utils'
import type { Problem } from '../../../../lib/base/errors.ts'
import { actor } from '../../../helpers/chain.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' }
  ]
} as const

interface Credential {
  challenge: Record<string, string>
  payload: Record<string, string>
}
interface Charge {
  amount: string
  currency: `0x${string}`
  recipient: `0x${string}`
  methodDetails: { chainId: number; credentialTypes: string[]; decimals: number }
}

/** A client by the text of draft-httpauth-payment-01 alone. */
describe('the HTTP authentication scheme Payment', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let base: string
  let url: string
  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    for (const [name, price] of [
      ['counter', '0.04'],
      ['other', '0.04'],
      ['cheap', '0.001']
    ] as const) {
      await owner.souk.serve({ name, price, payout: bench.provider }, owner.api)
    }
    base = await bench.startIngress(await bench.startConsumer(owner))
    url = `${base}/api/demo/api/counter`
  })
  after(() => bench.close())
  beforeEach(() => {
    owner.api.runs = 0
  })

  const post = (headers: Record<string, string> = {}, at = url, body = '{}') =>
    fetch(at, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const decoded = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
  const chargeOf = ({ request }: Record<string, string>) => decoded(request ?? '') as Charge
  const challengeOf = (response: Response): Record<string, string> => {
    const header = response.headers.get('www-authenticate') ?? ''
    assert.match(header, /^Payment /)
    return Object.fromEntries(Array.from(header.matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [name!, value!]))
  }
  const pay = (credential: Credential, at = url, body = '{}') =>
    post({ authorization: `Payment ${encoded(credential)}` }, at, body)

  async function sign(name: string, challenge: Record<string, string>, change: (charge: Charge) => void = () => {}) {
    const account = actor(name)
    const charge = chargeOf(challenge)
    change(charge)
    const { name: token, version } = bench.parameters.usdc
    const nonce = keccak256(toBytes(challenge['id']! + challenge['realm']!))
    const validBefore = String(Math.floor(Date.parse(challenge['expires']!) / 1_000))
    const { amount: value, recipient: to, currency } = charge
    const domain = { name: token, version, chainId: charge.methodDetails.chainId, verifyingContract: currency }
    const message = {
      from: account.address,
      to,
      value: BigInt(value),
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce
    }
    const signature = await account.signTypedData({
      domain,
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message
    })
    const payload = {
      type: 'authorization',
      from: account.address,
      to,
      value,
      validAfter: '0',
      validBefore,
      nonce,
      signature
    }
    return { challenge: { ...challenge }, payload: { ...payload } as Record<string, string> }
  }

  it('stands beside x402 in the 402, for the same money, with an id of its own each time', async () => {
    const response = await post()
    assert.deepEqual([response.status, response.headers.get('cache-control')], [402, 'no-store'])
    const challenge = challengeOf(response)
    const [exact] = decodePaymentRequiredHeader(response.headers.get('payment-required')!).accepts
    const { amount, asset: currency, payTo: recipient } = exact!
    const methodDetails = { chainId: bench.parameters.chainId, credentialTypes: ['authorization'], decimals: 6 }
    assert.deepEqual(chargeOf(challenge), { amount, currency, methodDetails, recipient })
    assert.deepEqual(
      [challenge['method'], challenge['intent'], challenge['realm']],
      ['evm', 'charge', new URL(url).host]
    )
    assert.ok(Date.parse(challenge['expires']!) > Date.now())
    assert.notEqual(challengeOf(await post())['id'], challenge['id'])
  })

  it('pays for one call, for any number of repeats, with a receipt that names the transfer', async () => {
    const payer = await bench.payer('mpp', USDC)
    const credential = await sign('mpp', challengeOf(await post()))
    const responses = await Promise.all(Array.from({ length: 5 }, () => pay(credential)))
    responses.push(await pay(credential))
    for (const response of responses) {
      assert.equal(response.status, 200, await response.clone().text())
      assert.deepEqual(await response.json(), { run: 1 })
      const receipt = decoded(response.headers.get('payment-receipt')!) as Record<string, string>
      const { transaction } = decodePaymentResponseHeader(response.headers.get('payment-response')!)
      assert.deepEqual([receipt['method'], receipt['status'], receipt['reference']], ['evm', 'success', transaction])
      assert.ok(Date.parse(receipt['timestamp']!) > 0)
    }
    assert.equal(owner.api.runs, 1)
    assert.equal(await bench.usdc(payer), USDC - PRICE)
    const other = await pay(credential, url, '{"other":true}')
    assert.deepEqual([other.status, ((await other.json()) as Problem).code], [409, 'payment_id_conflict'])
  })

  const refusals: ReadonlyArray<readonly [string, (credential: Credential) => void]> = [
    ['a changed amount', ({ challenge }) => (challenge['request'] = encoded({ ...chargeOf(challenge), amount: '1' }))],
    ['a changed id', ({ challenge }) => (challenge['id'] = encoded('an id'))],
    ['another realm', ({ challenge }) => (challenge['realm'] = 'bank.example')],
    ['a changed expiry', ({ challenge }) => (challenge['expires'] = '2100-01-01T00:00:00.000Z')],
    ['a digest that was not asked for', ({ challenge }) => (challenge['digest'] = 'sha-256=AAAA')],
    ['another nonce', ({ payload }) => (payload['nonce'] = `0x${'12'.repeat(32)}`)],
    ['another value', ({ payload }) => (payload['value'] = '1')],
    ['another recipient', ({ payload }) => (payload['to'] = bench.provider)],
    ['an expired authorization', ({ payload }) => (payload['validBefore'] = '1700000000')],
    ['another payer', ({ payload }) => (payload['from'] = actor('somebody').address)]
  ]
  for (const [what, change] of refusals) {
    it(`refuses a credential with ${what}, with new offers, and runs no call`, async () => {
      const payer = await bench.payer('refused', USDC)
      const before = await bench.usdc(payer)
      const credential = await sign('refused', challengeOf(await post()))
      change(credential)
      const response = await pay(credential)
      const { code } = (await response.json()) as Problem
      assert.deepEqual([response.status, code], [402, 'payment_rejected'])
      assert.ok(response.headers.has('payment-required'))
      assert.notEqual(challengeOf(response)['id'], credential.challenge['id'])
      assert.deepEqual([owner.api.runs, await bench.usdc(payer)], [0, before])
    })
  }

  it('refuses a credential for another API', async () => {
    await bench.payer('stray', USDC)
    const response = await pay(await sign('stray', challengeOf(await post())), `${base}/api/demo/api/other`)
    assert.deepEqual([response.status, ((await response.json()) as Problem).code], [402, 'payment_rejected'])
    assert.equal(owner.api.runs, 0)
  })

  it('refuses what is no credential', async () => {
    const whole = await sign('refused', challengeOf(await post()))
    const broken: unknown[] = [
      5,
      [],
      { ...whole, payload: { ...whole.payload, type: 'hash' } },
      { ...whole, challenge: { ...whole.challenge, realm: 7 } },
      { ...whole, payload: { ...whole.payload, value: '-1' } },
      { ...whole, payload: { ...whole.payload, signature: 'none' } }
    ]
    const texts = [...broken.map(encoded), encoded({}), '%%%', encoded('x').slice(1), 'A'.repeat(9_000)]
    for (const text of texts) {
      const response = await post({ authorization: `Payment ${text}` })
      const { code, detail } = (await response.json()) as Problem
      const terms = response.headers.get('payment-required')
      // The provider's text would ask for a header of x402.
      if (terms !== null) assert.equal((decoded(terms) as { error: string }).error, detail)
      assert.ok(response.status === 400 || response.status === 402, `${response.status} ${code}: ${text.slice(0, 40)}`)
    }
    assert.equal(owner.api.runs, 0)
  })

  it('is not offered where a transfer is worth more than the call, and other schemes are no credential', async () => {
    const cheap = await post({}, `${base}/api/demo/api/cheap`)
    assert.deepEqual([cheap.status, cheap.headers.get('www-authenticate')], [402, null])
    assert.equal((await post({ authorization: 'Bearer abc' })).status, 402)
  })
})
