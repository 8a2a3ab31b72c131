import assert from 'node:assert/strict'
import { defaultLogger } from '@libp2p/logger'
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import { asSoukError } from '../../../../lib/base/errors.ts'
import { STORE_WAIT_MS } from '../../../../lib/base/limits/store.ts'
import { systemRandom } from '../../../../lib/base/random.ts'
import { type Admission, PAYMENT_MEMBER } from '../../../../lib/interface/payment-scheme.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { createChannelScheme } from '../../../../lib/pay/channel-scheme.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { freshIds, peerId } from '../../../helpers/call-record.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { hasted } from '../../../helpers/hasty-clock.ts'
import { type KeylessBench, keylessBench, schemeClock } from '../../../helpers/keyless-bench.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { type PostgresProxy, proxyPostgres } from '../../../helpers/postgres-proxy.ts'
import { API, outcome } from '../../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const PRICE = 50_000n
/** Real PostgreSQL must be able to answer within a fraction of `STORE_WAIT_MS`, also on a slow machine. */
const clock = hasted(25)

describe('an exact payment whose commit got no response from the database', () => {
  let bench: KeylessBench
  let postgres: TestPostgres
  let proxy: PostgresProxy
  before(async () => {
    bench = await keylessBench()
    postgres = await startPostgres()
    const url = await postgres.create()
    proxy = await proxyPostgres(url)
  })
  after(async () => {
    await proxy.close()
    await bench.close()
    await postgres.stop()
  })

  const admission = (text: string, request: number): Admission => ({
    requestId: freshIds.next(),
    api: API,
    peer: peerId('C'),
    revision: 1,
    price: PRICE,
    payout: bench.provider,
    payment: { text, requestHash: new Uint8Array(32).fill(request) }
  })

  it('pays for one call and is collected, when the database is back', async () => {
    const payer = await bench.payer('in doubt', USDC)
    const store = createPostgresStore({ url: proxy.through(await postgres.create()), clock })
    await store.open()
    const scheme = createChannelScheme({ chain: createChain(bench.parameters), signer: bench.owner })({
      calls: store.calls,
      documents: store.documents,
      ledger: store.ledger,
      link: { self: peerId('O'), serve: () => {}, exchange: () => assert.fail('asks nobody') },
      clock: schemeClock,
      random: systemRandom,
      payouts: () => [bench.provider],
      logger: defaultLogger()
    })
    await scheme.start()
    const admit = async (text: string, request: number) => scheme.admit(admission(text, request))
    const refusal = await admit('', 1).catch(asSoukError)
    assert.ok(refusal instanceof Error)
    const offer = refusal.members?.[PAYMENT_MEMBER] as Omit<PaymentRequired, 'x402Version' | 'resource'>
    const required = { x402Version: 2, resource: { url: 'http://127.0.0.1' }, ...offer }
    const client = x402Client.fromConfig(bench.stock('in doubt'))
    const text = encodePaymentSignatureHeader(await client.createPaymentPayload(required))

    const reservation = await admit(text, 1)
    const body = Buffer.from('answer')
    const response = { status: 200, headers: [], body }
    let isOver = false
    void proxy.fail('outage', body.toString('hex')).then(() =>
      clock.after(1.5 * STORE_WAIT_MS, () => {
        isOver = true
        proxy.release()
      })
    )
    const capturing = reservation.capture({ ...outcome(), response })
    // Another call with the same payment, after writes have waited in vain.
    await new Promise<void>((resolve) => void clock.after(1.2 * STORE_WAIT_MS, resolve))
    const second = admit(text, 2).catch(asSoukError)
    assert.equal(isOver, false)
    assert.equal((await capturing).charged, PRICE)
    const refused = await second
    assert.ok(refused instanceof Error, 'one payment paid for two calls')
    assert.equal(refused.code, 'payment_id_conflict')
    await eventually('the money', 20_000, async () => (await bench.usdc(payer)) === USDC - PRICE || undefined)
    assert.equal(await store.ledger.balance(`earned/exact/${bench.splitter}`), -PRICE)
    await scheme.stop()
    await store.close()
  })
})
