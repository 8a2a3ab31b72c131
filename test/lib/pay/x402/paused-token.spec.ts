import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { Problem } from '../../../../lib/base/errors.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'
import { tokenIssuer } from '../../../helpers/token-issuer.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 exact, while the token is paused', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string

  before(async () => {
    bench = await keylessBench()
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api/counter`
  })
  after(() => bench.close())

  it('is collected as soon as the token takes the transfer again', async () => {
    await bench.payer('patient', USDC)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const required = decodePaymentRequiredHeader((await fetch(url, init)).headers.get('payment-required') ?? '')
    const payment = await x402Client.fromConfig(bench.stock('patient')).createPaymentPayload(required)
    const headers = { ...init.headers, 'payment-signature': encodePaymentSignatureHeader(payment) }
    const pay = () => fetch(url, { ...init, headers })
    owner.api.answer = async () => {
      await tokenIssuer(bench).pause()
      return reply(200, { run: owner.api.runs })
    }
    const first = await pay()
    assert.deepEqual([first.status, ((await first.json()) as Problem).code], [503, 'settlement_pending'])
    await tokenIssuer(bench).unpause()
    const paid = await bench.eventually('the response', 20_000, async () => {
      const response = await pay()
      return response.status === 503 ? undefined : response
    })
    assert.deepEqual([paid.status, await paid.json()], [200, { run: 1 }])
    const { ledger } = owner.store
    const [lost, direct] = await Promise.all(
      ['lost/exact', 'direct'].map((name) => ledger.balance(`${name}/${bench.splitter}`))
    )
    assert.deepEqual([lost, direct, await bench.collected()], [0n, PRICE, PRICE])
  })
})
