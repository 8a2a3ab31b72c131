import assert from 'node:assert/strict'
import type { PaymentPayload } from '@x402/core/types'
import type { SoukError } from '../../../../lib/base/errors.ts'
import type { Hex } from '../../../../lib/base/hex.ts'
import { PAYMENTS_UNSETTLED_MAX } from '../../../../lib/base/limits/pay.ts'
import type { Chain, ContractCall, Simulation } from '../../../../lib/interface/chain.ts'
import { ExactScheme } from '../../../../lib/pay/x402/exact-scheme.ts'
import { ContractPayments } from '../../../../lib/pay/chain/contract-payments.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { OfferReceipts } from '../../../../lib/pay/x402/offer-receipt.ts'
import { Offers } from '../../../../lib/pay/x402/offers.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../../helpers/call-record.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { API, outcome, PAYOUT, PlayChain } from '../../../helpers/scheme-bench.ts'

const PRICE = 40_000n
const PAYER: Hex = `0x${'12'.repeat(20)}`
const SIGNED: Hex = `0x${'5a'.repeat(65)}`
const UNSIGNED: Hex = `0x${'00'.repeat(65)}`

/** A scheme whose token accepts the bytes `SIGNED` as a signature. It judges unsigned payments only after `judge`. */
async function schemeOf(wallet: bigint) {
  const clock = manualClock()
  const { chain } = new PlayChain(clock)
  const { promise: judged, resolve: judge } = Promise.withResolvers<void>()
  const simulate = async (_from: unknown, { data }: ContractCall): Promise<Simulation> => {
    if (data.includes(SIGNED.slice(2))) return { ok: true, gas: 1n }
    await judged
    return { ok: false, reason: 'FiatTokenV2: invalid signature' }
  }
  const terms = { settlement: PAYOUT, withdrawDelay: 900, depositMin: 1n }
  const onError = (error: unknown) => assert.fail(String(error))
  const offerReceipts = new OfferReceipts({ signer: keySigner(new Uint8Array(32).fill(9)), clock, onError })
  const { parameters } = chain
  const offers = new Offers({ parameters, splitterOf: (to) => to, terms, exactMin: 1n, offerReceipts })
  const store = createMemoryStore()
  await store.open()
  const { calls, documents, ledger } = store
  const scheme = new ExactScheme({
    calls,
    documents,
    ledger,
    clock,
    offers,
    offerReceipts,
    sender: PAYOUT,
    onError,
    chain: { ...chain, simulate, balance: async () => wallet, code: async () => '0x' } as unknown as Chain,
    contractPayments: new ContractPayments(clock),
    submitter: { submit: () => new Promise(() => {}), hashOf: () => undefined, onFinal: () => () => {} },
    redeemer: { costOf: () => 0n, received: () => {}, refreshGas: async () => undefined }
  })
  let nonces = 0n
  const admit = async (signature: Hex) => {
    const asked = { requestId: freshIds.next(), api: API, peer: peerId('C'), revision: 1, price: PRICE, payout: PAYOUT }
    const [accepted] = acceptsOf(await offers.ask(asked))
    const nonce = `0x${(++nonces).toString(16).padStart(64, '0')}`
    const times = { validAfter: '0', validBefore: String(Math.floor(clock.now() / 1_000) + 600) }
    const authorization = { from: PAYER, to: PAYOUT, value: PRICE.toString(), nonce, ...times }
    const payload = { x402Version: 2, accepted, payload: { authorization, signature } } as unknown as PaymentPayload
    return scheme.admit(asked, `0x${'07'.repeat(32)}`, payload)
  }
  return { admit, judge }
}

const acceptsOf = (error: SoukError): unknown[] => (error.members!['x402'] as { accepts: unknown[] }).accepts
const code = (expected: string) => (error: SoukError) => {
  assert.equal(error.code, expected, error.message)
  return true
}

describe('x402 exact payments that name a payer without its signature', () => {
  it('neither use up its balance nor the room for payments while they are checked', async () => {
    const { admit, judge } = await schemeOf(PRICE)
    const forged = Array.from({ length: PAYMENTS_UNSETTLED_MAX + 1 }, () =>
      assert.rejects(admit(UNSIGNED), code('payment_rejected'))
    )
    await (await admit(SIGNED)).release(outcome())
    judge()
    await Promise.all(forged)
  })

  it('signed ones count at once: of two that the balance covers only once, one is accepted', async () => {
    const { admit } = await schemeOf(2n * PRICE - 1n)
    const ends = await Promise.allSettled([admit(SIGNED), admit(SIGNED)])
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as SoukError).code] : []))
    assert.deepEqual(refused, ['insufficient_funds'])
  })

  it('signed ones are limited in number', async () => {
    const { admit } = await schemeOf(1_000n * PRICE)
    const first = await Promise.all(Array.from({ length: PAYMENTS_UNSETTLED_MAX }, () => admit(SIGNED)))
    await assert.rejects(admit(SIGNED), code('overloaded'))
    await first[0]?.release(outcome())
    await admit(SIGNED)
  })
})
