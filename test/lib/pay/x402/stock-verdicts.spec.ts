import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { x402Facilitator } from '@x402/core/facilitator'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { privateKeyToAccount } from 'viem/accounts'
import { actor } from '../../../helpers/chain.ts'
import { facilitatorSigner } from '../../../helpers/facilitator-signer.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 40_000n
type Scheme = 'exact' | 'batch-settlement'

interface Case {
  readonly what: string
  /** Changes the offer before the client signs, so that its signature is valid. */
  readonly offer?: (offer: PaymentRequirements) => void
  /** Changes what the client signed. */
  readonly change?: (payload: PaymentPayload) => void
  /** Souk's reason, where it checks in another order. Default: the same. */
  readonly ours?: string
  /** Balance of the payer. Default: enough. */
  readonly funds?: bigint
}

const membersOf = (value: unknown) => value as Record<string, string>
const authorizationOf = ({ payload }: PaymentPayload) => membersOf(payload['authorization'])
const voucherOf = ({ payload }: PaymentPayload) => membersOf(payload['voucher'])
const configOf = ({ payload }: PaymentPayload) => membersOf(payload['channelConfig'])
const depositOf = ({ payload }: PaymentPayload) =>
  payload['deposit'] as { amount: string; authorization: Record<string, Record<string, string>> }
const flipped = (hex: string) => `${hex.slice(0, 20)}${hex[20] === 'a' ? 'b' : 'a'}${hex.slice(21)}`
const OTHER = `0x${'12'.repeat(20)}`

const BATCH_PREFIX = 'invalid_batch_settlement_evm_'
const DEPOSIT = `${BATCH_PREFIX}deposit_transaction_failed`

/** The client signs what has expired, and says nothing of it. */
const expired = (offer: PaymentRequirements) => (offer.maxTimeoutSeconds = -1_000)
const inTime = ({ accepted }: PaymentPayload) => (accepted.maxTimeoutSeconds = 300)

const EXACT: readonly Case[] = [
  { what: 'a valid payment' },
  {
    what: 'a changed signature',
    change: ({ payload }) => (payload['signature'] = flipped(payload['signature'] as string))
  },
  { what: 'the signature of another payer', change: (payment) => (authorizationOf(payment)['from'] = OTHER) },
  { what: 'a lower amount', offer: (offer) => (offer.amount = String(PRICE - 1n)) },
  { what: 'a higher amount', offer: (offer) => (offer.amount = String(PRICE + 1n)) },
  { what: 'another recipient', offer: (offer) => (offer.payTo = OTHER) },
  { what: 'another network', change: ({ accepted }) => (accepted.network = 'eip155:8453') },
  { what: 'another scheme', ours: 'unsupported_scheme', change: ({ accepted }) => (accepted.scheme = 'upto') },
  { what: 'an expired authorization', offer: expired, change: inTime },
  { what: 'a changed nonce', change: (payment) => (authorizationOf(payment)['nonce'] = `0x${'34'.repeat(32)}`) },
  { what: 'too little money', funds: PRICE - 1n }
]

const BATCH: readonly Case[] = [
  { what: 'a deposit and a voucher' },
  {
    what: 'a changed voucher signature',
    change: (payment) => (voucherOf(payment)['signature'] = flipped(voucherOf(payment)['signature']!))
  },
  {
    what: 'a voucher for another amount than was signed',
    change: (payment) => (voucherOf(payment)['maxClaimableAmount'] = '1')
  },
  {
    what: 'a voucher of another channel',
    change: (payment) => (voucherOf(payment)['channelId'] = `0x${'56'.repeat(32)}`)
  },
  {
    what: 'another receiver',
    ours: `${BATCH_PREFIX}receiver_mismatch`,
    change: (payment) => (configOf(payment)['receiver'] = OTHER)
  },
  {
    what: 'another authorizer of the receiver',
    ours: `${BATCH_PREFIX}receiver_authorizer_mismatch`,
    change: (payment) => (configOf(payment)['receiverAuthorizer'] = OTHER)
  },
  {
    what: 'another token',
    ours: `${BATCH_PREFIX}token_mismatch`,
    change: (payment) => (configOf(payment)['token'] = OTHER)
  },
  { what: 'another salt than was signed', change: (payment) => (configOf(payment)['salt'] = `0x${'78'.repeat(32)}`) },
  { what: 'another network', change: ({ accepted }) => (accepted.network = 'eip155:8453') },
  {
    what: 'another deposit than was signed',
    ours: DEPOSIT,
    change: (payment) => (depositOf(payment).amount = '600000')
  },
  { what: 'an expired deposit', offer: expired, change: inTime, ours: DEPOSIT },
  { what: 'too little money for the deposit', ours: DEPOSIT, funds: USDC / 4n }
]

/** The same payments to x402's own facilitator and to Souk, on one chain. */
describe('the verdicts of Souk and of the stock x402 facilitator', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string
  let facilitator: x402Facilitator
  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api/counter`
    const stock = actor('stock facilitator')
    await bench.fundGas(stock.address.toLowerCase() as `0x${string}`)
    const signer = facilitatorSigner(bench, stock)
    const network = `eip155:${bench.parameters.chainId}` as const
    const authorizer = privateKeyToAccount(`0x${'15'.repeat(32)}`)
    facilitator = new x402Facilitator()
    facilitator.register(network, new ExactEvmScheme(signer))
    facilitator.register(network, new BatchSettlementEvmScheme(signer, authorizer))
  })
  after(() => bench.close())
  beforeEach(() => {
    owner.api.runs = 0
  })

  const post = (headers: Record<string, string> = {}, body = '{}') =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const requiredOf = (response: Response): PaymentRequired =>
    decodePaymentRequiredHeader(response.headers.get('payment-required')!)

  async function made(scheme: Scheme, name: string, { offer, change, funds = USDC }: Case) {
    await bench.payer(name, funds)
    const required = requiredOf(await post())
    const wanted = required.accepts.find((each) => each.scheme === scheme)!
    const requirements = structuredClone(wanted)
    offer?.(wanted)
    const client = x402Client.fromConfig(scheme === 'exact' ? bench.stock(name) : bench.batch(name).config)
    const payload = await client.createPaymentPayload({ ...required, accepts: [wanted] })
    change?.(payload)
    return { payload, requirements }
  }
  /** The reason of the stock facilitator; undefined if it accepts. */
  async function stockVerdict(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | undefined> {
    const verdict = await facilitator.verify(payload, requirements).catch((error: unknown) => ({
      isValid: false,
      invalidReason: (error as { invalidReason?: string }).invalidReason ?? String(error)
    }))
    return verdict.isValid ? undefined : (verdict.invalidReason ?? 'no reason')
  }
  /** The reason of Souk; undefined if it accepts. */
  async function ourVerdict(payload: PaymentPayload, body = '{}'): Promise<string | undefined> {
    const response = await post({ 'payment-signature': encodePaymentSignatureHeader(payload) }, body)
    if (response.status === 200) return undefined
    const text = await response.text()
    return response.status === 402 ? requiredOf(response).error : text
  }

  for (const [scheme, cases] of [
    ['exact', EXACT],
    ['batch-settlement', BATCH]
  ] as const) {
    for (const [index, each] of cases.entries()) {
      it(`agree on ${scheme}: ${each.what}`, async () => {
        const { payload, requirements } = await made(scheme, `${scheme} ${index}`, each)
        const stock = await stockVerdict(payload, requirements)
        const ours = await ourVerdict(payload)
        assert.equal(ours, stock === undefined ? undefined : (each.ours ?? stock))
        assert.equal(stock === undefined, index === 0, stock)
        assert.equal(owner.api.runs, index === 0 ? 1 : 0)
      })
    }
  }

  it('agree on a payment that was taken: it pays for no other request', async () => {
    const { payload, requirements } = await made('exact', 'replayed', EXACT[0]!)
    assert.equal(await ourVerdict(payload), undefined)
    assert.equal(await stockVerdict(payload, requirements), 'invalid_exact_evm_nonce_already_used')
    assert.match((await ourVerdict(payload, '{"other":true}')) ?? '', /payment_id_conflict/)
    assert.equal(owner.api.runs, 1)
  })

  it('differ knowingly on a payment whose transfer somebody else has sent: for Souk it is paid, once', async () => {
    const { payload, requirements } = await made('exact', 'sent', EXACT[0]!)
    const settled = await facilitator.settle(payload, requirements)
    assert.equal(settled.success, true, settled.errorReason)
    assert.equal(await stockVerdict(payload, requirements), 'invalid_exact_evm_nonce_already_used')
    assert.equal(await ourVerdict(payload), undefined)
    assert.match((await ourVerdict(payload, '{"other":true}')) ?? '', /payment_id_conflict/)
    assert.equal(owner.api.runs, 1)
  })
})
