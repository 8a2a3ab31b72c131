import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader
} from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import type { Problem } from '../../../../lib/base/errors.ts'
import { UNEARNED_STEPS_MAX } from '../../../../lib/base/limits/chain.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const DEPOSIT = USDC / 2n
const PRICE = 1_000n
const PREFIX = 'invalid_batch_settlement_evm_'

describe('x402 batch-settlement, refunds by the standard client', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.001', payout: bench.provider }, owner.api)
    const consumer = await bench.startConsumer(owner)
    url = `${await bench.startIngress(consumer)}/api/demo/api/counter`
  })
  after(() => bench.close())

  const request = (i = 0) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"i":${i}}` })
  const settledOf = (response: Response) => decodePaymentResponseHeader(response.headers.get('payment-response')!)
  const codeOf = async (response: Response) => ((await response.json()) as Problem).code
  /** The x402 error of a 402, else the code. */
  async function refusalOf(response: Response) {
    const required = response.headers.get('payment-required')
    return [response.status, required === null ? await codeOf(response) : decodePaymentRequiredHeader(required).error]
  }

  /** A client whose channel paid for some calls. */
  async function spent(name: string, calls: number, at = url) {
    const payer = await bench.payer(name, USDC)
    const client = bench.batch(name)
    for (let i = 0; i < calls; i++) assert.equal((await client.fetch(at, request(i))).status, 200)
    let last: string | undefined
    /** Keeps the request for a refund, to send it again. */
    const recorded: typeof fetch = (target, init) => {
      last = new Headers(init?.headers).get('payment-signature') ?? undefined
      return fetch(target, init)
    }
    const refund = (amount?: string) =>
      client.scheme.refund(at, { fetch: recorded, ...(amount === undefined ? {} : { amount }) })
    const resend = (change: (payment: PaymentPayload) => unknown = () => undefined, to = at) => {
      const payment = decodePaymentSignatureHeader(last!)
      change(payment)
      return fetch(to, { headers: { 'payment-signature': encodePaymentSignatureHeader(payment) } })
    }
    return { payer, client, refund, resend }
  }
  const totalOf = async (response: Response) => {
    const { channelId } = settledOf(response).extra!['channelState'] as { channelId: string }
    return -(await owner.store.ledger.balance(`earned/${channelId}`))
  }

  it('returns the rest of the deposit and runs no call. The channel can be used again', async () => {
    const { payer, client, refund } = await spent('leaver', 2)
    const { runs } = owner.api
    const settled = await refund()
    assert.match(settled.transaction, /^0x[0-9a-f]{64}$/)
    assert.deepEqual([settled.success, settled.amount], [true, String(DEPOSIT - 2n * PRICE)])
    assert.equal(await bench.usdc(payer), USDC - 2n * PRICE)
    assert.equal(owner.api.runs, runs)
    const again = await client.fetch(url, request())
    assert.equal(again.status, 200, await again.clone().text())
    assert.equal(await totalOf(again), 3n * PRICE)
    assert.equal((await refund()).amount, String(DEPOSIT - PRICE))
    assert.equal(await bench.usdc(payer), USDC - 3n * PRICE)
  })

  it('returns a part, and the next call needs no new deposit', async () => {
    const { payer, client, refund } = await spent('partial', 1)
    assert.equal((await refund('100000')).amount, '100000')
    assert.equal(await bench.usdc(payer), USDC - DEPOSIT + 100_000n)
    const next = await client.fetch(url, request())
    assert.deepEqual([next.status, settledOf(next).transaction], [200, ''])
    assert.equal((await refund('999999999')).amount, String(DEPOSIT - 100_000n - 2n * PRICE))
    assert.equal(await bench.usdc(payer), USDC - 2n * PRICE)
  })

  it('pays once, however often the request comes', async () => {
    const { payer, refund, resend } = await spent('insistent', 1)
    const { transaction, amount } = await refund('1000')
    const repeats = await Promise.all([resend(), resend()])
    const later = await resend()
    for (const repeat of [...repeats, later]) {
      if (repeat.status === 402) assert.deepEqual(await refusalOf(repeat), [402, `${PREFIX}channel_busy`])
      else assert.deepEqual([settledOf(repeat).transaction, settledOf(repeat).amount], [transaction, amount])
    }
    assert.deepEqual([later.status, await later.json()], [200, { refunded: '0.001', transaction }])
    assert.equal(await bench.usdc(payer), USDC - DEPOSIT + 1_000n)
  })

  it('is refused if nothing is left, if it is malformed, and if the payer has not signed for the charged total', async () => {
    const { payer, client, refund, resend } = await spent('spender', 1)
    await refund()
    const before = await bench.usdc(payer)
    const part = (amount: unknown) => resend(({ payload }) => (payload['amount'] = amount))
    const member = (name: string, value: unknown, inside = 'voucher') =>
      resend(({ payload }) => Object.assign(payload[inside] as object, { [name]: value }))
    assert.deepEqual(await refusalOf(await part('1')), [402, `${PREFIX}refund_no_balance`])
    for (const amount of ['0', '-1', 'all', 5, null, {}, '9'.repeat(40)]) {
      assert.deepEqual(await refusalOf(await part(amount)), [400, 'payment_malformed'])
    }
    assert.equal((await client.fetch(url, request())).status, 200)
    await bench.deposited(payer, before - DEPOSIT)
    assert.deepEqual(await refusalOf(await resend()), [402, `${PREFIX}cumulative_amount_mismatch`])
    for (const total of ['0', '2000', '500000']) {
      const refused = await refusalOf(await member('maxClaimableAmount', total))
      assert.deepEqual(refused, [402, `${PREFIX}voucher_signature`])
    }
    assert.deepEqual(await refusalOf(await member('payer', bench.provider, 'channelConfig')), [
      402,
      `${PREFIX}channel_id_mismatch`
    ])
    assert.equal(await bench.usdc(payer), before - DEPOSIT)
  })

  it('waits for no running call, and admits none meanwhile', async () => {
    const { payer, client, refund } = await spent('hasty', 1)
    const gate = Promise.withResolvers<void>()
    const { answer } = owner.api
    owner.api.answer = async () => {
      await gate.promise
      return reply(200, {})
    }
    const { runs } = owner.api
    const running = client.fetch(url, request(1))
    await bench.eventually('the call runs', 5_000, () => (owner.api.runs > runs ? true : undefined))
    await assert.rejects(refund(), /channel_busy/)
    gate.resolve()
    owner.api.answer = answer
    assert.equal((await running).status, 200)
    await refund()
    assert.equal(await bench.usdc(payer), USDC - 2n * PRICE)
  })

  it('works before any call was charged, and for a client that lost its state', async () => {
    const payer = await bench.payer('unlucky', USDC)
    const { answer } = owner.api
    owner.api.answer = () => reply(500, {})
    const client = bench.batch('unlucky')
    assert.equal((await client.fetch(url, request())).status, 500)
    owner.api.answer = answer
    // Calls may have been served before their deposit was mined.
    const refundTo = (clientNow: () => ReturnType<KeylessBench['batch']>) =>
      bench.eventually('the deposit counts', 10_000, () =>
        clientNow()
          .scheme.refund(url)
          .catch((error: unknown) => {
            if (!/no remaining balance|status 503/.test(String(error))) throw error
            return undefined
          })
      )
    assert.equal((await refundTo(() => client)).amount, String(DEPOSIT))
    assert.equal(await bench.usdc(payer), USDC)
    await spent('amnesiac', 3)
    assert.equal((await refundTo(() => bench.batch('amnesiac'))).amount, String(DEPOSIT - 3n * PRICE))
  })

  it('needs no GET of the API. Another payment with GET is refused as before', async () => {
    const { client } = await spent('getter', 1)
    assert.equal((await client.fetch(url)).status, 405)
  })

  it('has a limit a payer: the owner pays gas for channels that earned less only so often', async () => {
    const signer = keySigner(Buffer.alloc(32, 23))
    await bench.fundGas(signer.address)
    const node = await bench.startOwner({ signer })
    await node.souk.serve({ name: 'own', price: '0.001', payout: bench.provider }, node.api)
    const { payer, refund } = await spent('greedy', 1, `${await bench.startIngress(node)}/api/demo/api/own`)
    let paid = 0
    for (; paid <= UNEARNED_STEPS_MAX; paid++) {
      const isPaid = await refund(String(10 + paid)).then(
        () => true,
        () => false
      )
      if (!isPaid) break
    }
    assert.equal(paid, UNEARNED_STEPS_MAX)
    const sum = Array.from({ length: paid }, (_, i) => 10n + BigInt(i)).reduce((a, b) => a + b, 0n)
    assert.equal(await bench.usdc(payer), USDC - DEPOSIT + sum)
    await node.stop()
  })

  it('continues after a restart of the owner: the same part, once', async () => {
    const [store, privateKey] = [createMemoryStore(), await generateKeyPair('Ed25519')]
    const serve = async () => {
      const node = await bench.startOwner({ store, privateKey })
      await node.souk.serve({ name: 'own', price: '0.001', payout: bench.provider }, node.api)
      return { ...node, at: `${await bench.startIngress(node)}/api/demo/api/own` }
    }
    const first = await serve()
    const { payer, refund, resend } = await spent('patient', 1, first.at)
    await bench.mining(false)
    await assert.rejects(refund('250000'), /status 503/)
    await first.stop()
    await bench.mining(true)
    const second = await serve()
    const settled = await bench.eventually('the refund is paid', 20_000, async () => {
      const response = await resend(undefined, second.at)
      return response.status === 200 ? settledOf(response) : undefined
    })
    assert.equal(settled.amount, '250000')
    assert.equal(await bench.usdc(payer), USDC - DEPOSIT + 250_000n)
    await second.stop()
    const third = await serve()
    const again = await resend(undefined, third.at)
    assert.deepEqual([again.status, settledOf(again).amount], [200, '250000'])
    assert.equal(await bench.usdc(payer), USDC - DEPOSIT + 250_000n)
    await third.stop()
  })
})
