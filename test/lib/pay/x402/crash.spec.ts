import assert from 'node:assert/strict'
import { defaultLogger } from '@libp2p/logger'
import { x402Client } from '@x402/core/client'
import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import { asSoukError } from '../../../../lib/base/errors.ts'
import { systemRandom } from '../../../../lib/base/random.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { type Admission, PAYMENT_MEMBER, type Settled } from '../../../../lib/interface/payment-scheme.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { type ChannelScheme, createChannelScheme } from '../../../../lib/pay/channel-scheme.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../../helpers/call-record.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench, schemeClock } from '../../../helpers/keyless-bench.ts'
import { type Mortal, mortal } from '../../../helpers/mortal.ts'
import { API, outcome } from '../../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
/** Above the credit, so that a call by `batch-settlement` waits for its deposit. */
const PRICE = 50_000n
const SPENT = { exact: PRICE, 'batch-settlement': USDC / 2n }
type Scheme = keyof typeof SPENT

describe('x402, with kill -9 of the owner', () => {
  let bench: KeylessBench
  before(async () => {
    bench = await keylessBench()
  })
  after(() => bench.close())

  async function start(store: Store, life: Mortal): Promise<ChannelScheme> {
    const chain = life.chain(createChain(bench.parameters))
    const paymentScheme = createChannelScheme({ chain, signer: bench.owner })({
      calls: life.calls(store.calls),
      documents: life.documents(store.documents),
      ledger: life.ledger(store.ledger),
      link: { self: peerId('O'), serve: () => {}, exchange: () => assert.fail('asks nobody') },
      clock: schemeClock,
      random: systemRandom,
      payouts: () => [bench.provider],
      logger: defaultLogger()
    })
    await paymentScheme.start()
    return paymentScheme
  }

  const admission = (text: string): Admission => ({
    requestId: freshIds.next(),
    api: API,
    peer: peerId('C'),
    revision: 1,
    price: PRICE,
    payout: bench.provider,
    payment: { text, requestHash: new Uint8Array(32).fill(1) }
  })

  async function signed(paymentScheme: ChannelScheme, scheme: Scheme, payer: string): Promise<string> {
    const refusal = await Promise.resolve(paymentScheme.admit(admission(''))).then(
      () => assert.fail('it was let in'),
      (error: unknown) => asSoukError(error)
    )
    const offer = refusal.members?.[PAYMENT_MEMBER] as Omit<PaymentRequired, 'x402Version' | 'resource'>
    const required = { x402Version: 2, resource: { url: 'http://127.0.0.1' }, ...offer }
    const config = scheme === 'exact' ? bench.stock(payer) : bench.batch(payer).config
    return encodePaymentSignatureHeader(await x402Client.fromConfig(config).createPaymentPayload(required))
  }

  /** One call: the API runs if the call is admitted and has no stored response. */
  async function call(paymentScheme: ChannelScheme, text: string, run: () => void): Promise<Settled> {
    const reservation = await paymentScheme.admit(admission(text))
    if (reservation.replay !== undefined) return reservation.replay.settled
    run()
    const response = { status: 200, headers: [], body: Buffer.from('answer') }
    return reservation.capture({ ...outcome(), response })
  }

  /** A client repeats a call whose deposit is not mined in time, on a busy machine or after a crash. */
  const answer = (paymentScheme: ChannelScheme, text: string, run: () => void): Promise<Settled> =>
    eventually('the response', 10_000, () =>
      call(paymentScheme, text, run).catch((error: unknown) => {
        assert.equal(asSoukError(error).code, 'settlement_pending')
        return undefined
      })
    )

  /** The owner's earnings from a payment. */
  const earned = async (store: Store, text: string) => {
    const { voucher } = decodePaymentSignatureHeader(text).payload as { voucher?: { channelId: string } }
    return store.ledger.balance(`earned/${voucher?.channelId ?? `exact/${bench.splitter}`}`)
  }

  /** Runs one call with a process that dies at an instant, and then with a later process. Returns how long the first lived. */
  async function round(scheme: Scheme, dieAt?: number): Promise<{ readonly started: number; readonly lived: number }> {
    const store = createMemoryStore()
    await store.open()
    const first = mortal(dieAt)
    const name = `crash ${scheme} ${dieAt}`
    const payer = await bench.payer(name, USDC)
    const dead = eventually('the end', 60_000, () => (first.isDead ? true : undefined))
    const paymentScheme = await Promise.race([start(store, first), dead])
    // Writes during the start are covered by another test.
    if (paymentScheme === true) return { started: 0, lived: 0 }
    const started = first.lived.length
    const text = await signed(paymentScheme, scheme, name)
    let runs = 0
    const answered = answer(paymentScheme, text, () => void runs++).then(() => true)
    await Promise.race([answered, dead])
    first.kill()
    await dead
    const wasBooked = (await earned(store, text)) !== 0n
    const runsBefore = runs

    const second = await start(store, mortal())
    const settled = await answer(second, text, () => void runs++)
    assert.equal(settled.charged, PRICE)
    assert.ok(settled.payment !== undefined)
    assert.equal(runs, wasBooked ? 1 : runsBefore + 1, `died ${first.lived.at(-1)}`)
    assert.equal(await bench.usdc(payer), USDC - SPENT[scheme])
    assert.equal(await earned(store, text), -PRICE)
    assert.equal(await store.ledger.balance(`receivable/exact/${bench.splitter}`), 0n)
    await second.stop()
    return { started, lived: first.lived.length }
  }

  for (const scheme of ['exact', 'batch-settlement'] as const) {
    it(`a call by ${scheme} is paid once and runs once, for a kill at any instant after it is booked`, async () => {
      const { started, lived } = await round(scheme)
      assert.ok(lived - started > 6, 'there are instants to die at')
      for (let dieAt = started; dieAt < lived; dieAt++) await round(scheme, dieAt)
    })
  }
})
