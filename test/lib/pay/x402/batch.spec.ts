import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { x402Client } from '@x402/core/client'
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader
} from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import type { Problem } from '../../../../lib/base/errors.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const PRICE = 1_000n

describe('x402 batch-settlement, of clients without a key', () => {
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
  let count: typeof owner.api.answer | undefined
  beforeEach(() => {
    owner.api.runs = 0
    count ??= owner.api.answer
  })
  afterEach(() => {
    if (count !== undefined) owner.api.answer = count
  })
  /** Holds the API's responses until they are released. */
  function gated(): () => void {
    const gate = Promise.withResolvers<void>()
    owner.api.answer = async () => {
      await gate.promise
      return reply(200, { run: owner.api.runs })
    }
    return gate.resolve
  }

  const request = (body = '{}') => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const settledOf = (response: Response) => decodePaymentResponseHeader(response.headers.get('payment-response')!)
  const channelOf = (response: Response): ChannelId => {
    const { channelId } = settledOf(response).extra!['channelState'] as { channelId: ChannelId }
    return channelId
  }
  const codeOf = async (response: Response) => ((await response.json()) as Problem).code
  const pay = (text: string, body = '{}', more: Record<string, string> = {}) => {
    const { headers, ...rest } = request(body)
    return fetch(url, { ...rest, headers: { ...headers, 'payment-signature': text, ...more } })
  }
  /** The client's payment, captured before it is sent. */
  async function payment(client: ReturnType<KeylessBench['batch']>): Promise<string> {
    const required = decodePaymentRequiredHeader((await fetch(url, request())).headers.get('payment-required')!)
    return encodePaymentSignatureHeader(await x402Client.fromConfig(client.config).createPaymentPayload(required))
  }
  const changed = (text: string, change: (payload: PaymentPayload) => unknown): string => {
    const payload = decodePaymentSignatureHeader(text)
    change(payload)
    return encodePaymentSignatureHeader(payload)
  }

  it('is the only offer below the price that is worth a transaction', async () => {
    const required = decodePaymentRequiredHeader((await fetch(url, request())).headers.get('payment-required')!)
    assert.deepEqual(
      required.accepts.map(({ scheme, extra }) => [scheme, extra?.['decimals']]),
      [['batch-settlement', 6]]
    )
  })

  it('works with the standard client: one deposit, then only vouchers', async () => {
    const payer = await bench.payer('batch', USDC)
    const client = bench.batch('batch')
    const first = await client.fetch(url, request())
    assert.equal(first.status, 200, await first.clone().text())
    assert.notEqual(settledOf(first).transaction, '')
    await bench.deposited(payer, USDC / 2n)
    for (let run = 2; run <= 5; run++) {
      const next = await client.fetch(url, request())
      assert.deepEqual([next.status, await next.json()], [200, { run }])
      assert.equal(settledOf(next).transaction, '')
      assert.equal(next.headers.get('souk-charged'), '0.001')
      assert.ok(next.headers.has('souk-receipt'))
    }
    assert.equal(await bench.usdc(payer), USDC / 2n)
    assert.equal(await owner.store.ledger.balance(`earned/${channelOf(first)}`), -5n * PRICE)
  })

  it('serves the first calls before the deposit is mined', async () => {
    const payer = await bench.payer('hasty', USDC)
    const client = bench.batch('hasty')
    await bench.client.setAutomine(false)
    try {
      for (let run = 1; run <= 2; run++) {
        const response = await client.fetch(url, request())
        assert.deepEqual([response.status, await response.json()], [200, { run }])
      }
      assert.equal(await bench.usdc(payer), USDC)
    } finally {
      await bench.client.setAutomine(true)
      await bench.client.mine({ blocks: 1 })
    }
    await bench.deposited(payer, USDC / 2n)
    assert.equal((await client.fetch(url, request())).status, 200)
  })

  it('waits until a large deposit counts, and reads the chain again for the next call', async () => {
    const dear = url.replace('counter', 'dear')
    await owner.souk.serve({ name: 'dear', price: '2', payout: bench.provider }, owner.api)
    const payer = await bench.payer('rich', 20n * USDC)
    const client = bench.batch('rich')
    await eventually('the API', 5_000, async () => ((await fetch(dear, request())).status === 402 ? true : undefined))
    const refused = await client.fetch(dear, request())
    assert.equal(await codeOf(refused), 'settlement_pending')
    await eventually('the deposit', 5_000, async () => (await bench.usdc(payer)) < 20n * USDC || undefined)
    // From now on, only calls read the chain.
    owner.paymentScheme.settlement.watch.stop()
    await bench.client.mine({ blocks: 4 })
    await eventually('a paid call', 5_000, async () =>
      (await client.fetch(dear, request())).status === 200 ? true : undefined
    )
    await owner.paymentScheme.settlement.watch.start()
  })

  it('charges the actual cost if it is below the price, and the client continues from there', async () => {
    await bench.payer('thrifty', USDC)
    const client = bench.batch('thrifty')
    const costs = [300n, 0n, 2n * PRICE, 1n]
    let total = 0n
    for (const [i, price] of costs.entries()) {
      owner.api.answer = () => ({ ...reply(200, { run: i }), price })
      const response = await client.fetch(url, request(JSON.stringify({ i })))
      const charged = price > PRICE ? PRICE : price === 0n ? 1n : price
      total += charged
      assert.deepEqual([response.status, await response.json()], [200, { run: i }])
      assert.equal(settledOf(response).extra!['chargedAmount'], String(charged))
      assert.equal(await owner.store.ledger.balance(`earned/${channelOf(response)}`), -total)
    }
    // No call was sent twice: the client always used the owner's reported state.
    assert.equal(owner.api.runs, costs.length)
    const { rule } = (await owner.paymentScheme.receipts({ role: 'owner', limit: 1 })).receipts[0]!
    assert.equal(rule, 'cost')
  })

  it("continues from the owner's state after the client lost its own", async () => {
    await bench.payer('forgetful', USDC)
    const first = await bench.batch('forgetful').fetch(url, request())
    assert.equal(first.status, 200)
    // The new client has no state, reads from the chain that nothing was claimed, and signs a stale voucher.
    const again = await bench.batch('forgetful').fetch(url, request())
    assert.deepEqual([again.status, await again.json()], [200, { run: 2 }])
    assert.equal(await owner.store.ledger.balance(`earned/${channelOf(first)}`), -2n * PRICE)
  })

  it('accepts a voucher once: ten concurrent calls get the same response, in a later payment it is stale', async () => {
    await bench.payer('twice', USDC)
    const client = bench.batch('twice')
    await client.fetch(url, request())
    const text = await payment(client)
    const open = gated()
    const paying = Array.from({ length: 10 }, () => pay(text))
    await bench.eventually('all ten', 5_000, () => (owner.souk.status().serving === 10 ? true : undefined))
    open()
    for (const response of await Promise.all(paying)) {
      assert.deepEqual([response.status, await response.json()], [200, { run: 2 }])
    }
    assert.equal(owner.api.runs, 2)
    const stale = await pay(changed(text, (payload) => delete payload.extensions))
    const required = decodePaymentRequiredHeader(stale.headers.get('payment-required')!)
    assert.equal(stale.status, 402)
    assert.equal(required.error, 'invalid_batch_settlement_evm_cumulative_amount_mismatch')
    const { channelState, voucherState } = required.accepts[0]!.extra as Record<string, Record<string, string>>
    assert.equal(channelState!['chargedCumulativeAmount'], String(2n * PRICE))
    assert.equal(voucherState!['signedMaxClaimable'], String(2n * PRICE))
  })

  it('gets no response of a later call if a stale voucher comes many times at once', async () => {
    await bench.payer('stale', USDC)
    const client = bench.batch('stale')
    assert.equal((await client.fetch(url, request())).status, 200)
    const stale = await payment(client)
    for (let i = 0; i < 2; i++) assert.equal((await client.fetch(url, request())).status, 200)
    const { runs } = owner.api
    const responses = await Promise.all(Array.from({ length: 5 }, () => pay(stale)))
    assert.deepEqual(await Promise.all(responses.map(codeOf)), Array<string>(5).fill('payment_rejected'))
    assert.equal(owner.api.runs, runs)
  })

  it('carries one call at a time', async () => {
    await bench.payer('hasty', USDC)
    const client = bench.batch('hasty')
    await client.fetch(url, request())
    const open = gated()
    const text = await payment(client)
    const slow = pay(text)
    await bench.eventually('the call runs', 5_000, () => (owner.api.runs === 2 ? true : undefined))
    const busy = await pay(text, '{"other":true}')
    const required = decodePaymentRequiredHeader(busy.headers.get('payment-required')!)
    assert.deepEqual([busy.status, required.error], [402, 'invalid_batch_settlement_evm_channel_busy'])
    open()
    assert.equal((await slow).status, 200)
  })

  it('charges nothing if the API fails: deposit and voucher stay valid', async () => {
    const payer = await bench.payer('patient', USDC)
    const client = bench.batch('patient')
    const { answer } = owner.api
    owner.api.answer = () => reply(500, {})
    for (let i = 0; i < 2; i++) {
      const failed = await client.fetch(url, request())
      assert.deepEqual([failed.status, failed.headers.get('souk-charged')], [500, '0'])
    }
    owner.api.answer = answer
    const response = await client.fetch(url, request())
    assert.equal(response.status, 200)
    await bench.deposited(payer, USDC / 2n)
    assert.equal(await owner.store.ledger.balance(`earned/${channelOf(response)}`), -PRICE)
  })

  it("recognises a repeated payment by the client's name for it", async () => {
    await bench.payer('named', USDC)
    const client = bench.batch('named')
    const named = async () =>
      changed(await payment(client), (payload) => {
        payload.extensions = { 'payment-identifier': { info: { required: false, id: 'order-0123456789' } } }
      })
    await client.fetch(url, request())
    assert.deepEqual(await (await pay(await named())).json(), { run: 2 })
    // The client does not know the outcome, so this voucher is the same. After the next call it differs.
    assert.deepEqual(await (await pay(await named())).json(), { run: 2 })
    await client.fetch(url, request())
    const again = await pay(await named())
    assert.deepEqual([again.status, await again.json()], [200, { run: 2 }])
    assert.equal(settledOf(again).extra!['chargedAmount'], '0')
    const other = await pay(await named(), '{"other":true}')
    assert.deepEqual([other.status, await codeOf(other)], [409, 'payment_id_conflict'])
  })

  it('recognises a repeated payment by its idempotency key', async () => {
    await bench.payer('keyed', USDC)
    const client = bench.batch('keyed')
    const key = { 'idempotency-key': 'order-7' }
    const keyed = async (body?: string) => pay(await payment(client), body, key)
    await client.fetch(url, request())
    const first = await keyed()
    assert.equal(first.headers.get('idempotency-replayed'), null)
    const run = await first.json()
    await client.fetch(url, request())
    const again = await keyed()
    assert.deepEqual([again.status, await again.json()], [200, run])
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.headers.get('souk-charged')], ['true', '0'])
    const other = await keyed('{"other":true}')
    assert.deepEqual([other.status, await codeOf(other)], [422, 'idempotency_mismatch'])
  })

  it('rejects channels that do not pay this owner, with a reason and without running the call', async () => {
    await bench.payer('liar', USDC)
    const client = bench.batch('liar')
    const text = await payment(client)
    const before = new Set(owner.paymentScheme.channels().map(({ channelId }) => channelId))
    const cases: ReadonlyArray<readonly [reason: string, part: string, member: string, value: unknown]> = [
      ['token_mismatch', 'channelConfig', 'token', bench.provider],
      ['receiver_mismatch', 'channelConfig', 'receiver', bench.provider],
      ['receiver_authorizer_mismatch', 'channelConfig', 'receiverAuthorizer', bench.provider],
      ['channel_id_mismatch', 'channelConfig', 'withdrawDelay', 901],
      ['voucher_signature', 'voucher', 'maxClaimableAmount', '999'],
      ['deposit_transaction_failed', 'deposit', 'amount', '600000']
    ]
    const withMember = (part: string, member: string, value: unknown) =>
      changed(text, ({ payload }) => Object.assign(payload[part] as object, { [member]: value }))
    for (const [reason, part, member, value] of cases) {
      const response = await pay(withMember(part, member, value))
      const required = decodePaymentRequiredHeader(response.headers.get('payment-required')!)
      assert.deepEqual([response.status, required.error], [402, `invalid_batch_settlement_evm_${reason}`])
    }
    const empty = changed(text, ({ payload }) => {
      payload['type'] = 'voucher'
      delete payload['deposit']
    })
    const response = await pay(empty)
    const required = decodePaymentRequiredHeader(response.headers.get('payment-required')!)
    assert.deepEqual([response.status, required.error], [402, 'invalid_batch_settlement_evm_channel_not_found'])
    const unreadable = [
      changed(text, ({ payload }) => (payload['type'] = 'gift')),
      changed(text, ({ payload }) => delete payload['voucher']),
      withMember('deposit', 'amount', '-5'),
      withMember('channelConfig', 'salt', '0x')
    ]
    for (const garbage of unreadable) {
      const response = await pay(garbage)
      assert.deepEqual([response.status, await codeOf(response)], [400, 'payment_malformed'])
    }
    assert.equal(owner.api.runs, 0)
    assert.deepEqual(
      owner.paymentScheme.channels().filter(({ channelId }) => !before.has(channelId)),
      []
    )
  })

  it('tops up the channel when it is used up', async () => {
    const payer = await bench.payer('busy', 2n * USDC)
    await owner.souk.serve({ name: 'counter', price: '0.3', payout: bench.provider }, owner.api)
    const client = bench.batch('busy')
    await bench.eventually('the new price', 10_000, async () => {
      const required = decodePaymentRequiredHeader((await fetch(url, request())).headers.get('payment-required')!)
      return required.accepts[0]?.amount === '300000' ? true : undefined
    })
    for (let run = 1; run <= 3; run++) assert.equal((await client.fetch(url, request())).status, 200)
    assert.equal(await bench.usdc(payer), USDC)
  })

  it('continues after a restart of the owner, with its stored responses', async () => {
    const payer = await bench.payer('loyal', USDC)
    const [store, privateKey] = [createMemoryStore(), await generateKeyPair('Ed25519')]
    const client = bench.batch('loyal')
    const serve = async () => {
      const node = await bench.startOwner({ store, privateKey })
      await node.souk.serve({ name: 'own', price: '0.001', payout: bench.provider }, node.api)
      return { ...node, at: `${await bench.startIngress(node)}/api/demo/api/own` }
    }
    const named = async (at: string) => {
      const required = decodePaymentRequiredHeader((await fetch(at, request())).headers.get('payment-required')!)
      const payload = await x402Client.fromConfig(client.config).createPaymentPayload(required)
      payload.extensions = { 'payment-identifier': { info: { required: false, id: 'order-9876543210' } } }
      const { headers, ...rest } = request()
      return fetch(at, { ...rest, headers: { ...headers, 'payment-signature': encodePaymentSignatureHeader(payload) } })
    }
    const first = await serve()
    assert.equal((await client.fetch(first.at, request())).status, 200)
    await bench.deposited(payer, USDC / 2n)
    assert.deepEqual(await (await named(first.at)).json(), { run: 2 })
    await first.stop()
    const second = await serve()
    assert.deepEqual(await (await named(second.at)).json(), { run: 2 })
    const response = await client.fetch(second.at, request())
    assert.deepEqual([response.status, await response.json()], [200, { run: 1 }])
    assert.equal(await store.ledger.balance(`earned/${channelOf(response)}`), -3n * PRICE)
    assert.equal(await bench.usdc(payer), USDC / 2n)
    await second.stop()
  })

  it('finds the owner with its channel among several, and opens no second channel', async () => {
    const payer = await bench.payer('roamer', 5n * USDC)
    const signer = keySigner(Buffer.alloc(32, 22))
    await bench.fundGas(signer.address)
    const bootstrap = owner.libp2p.getMultiaddrs().map(String)
    const replica = await bench.startOwner({ signer, bootstrap })
    const listing = await owner.souk.serve({ name: 'shared', price: '0.001', payout: bench.provider }, owner.api)
    await owner.souk.delegate(replica.souk.status().peer)
    await bench.eventually('it is served twice', 10_000, () =>
      replica.souk.serveReplica(listing.signed.id, replica.api).then(
        () => true,
        () => undefined
      )
    )
    const consumer = await bench.startConsumer(owner)
    const at = `${await bench.startIngress(consumer)}/api/demo/api/shared`
    await bench.eventually('both are known', 10_000, async () => {
      const { owners } = await consumer.souk.resolve('shared', { refresh: true })
      return owners.length === 2 ? true : undefined
    })
    const client = bench.batch('roamer')
    for (let i = 0; i < 8; i++) {
      assert.equal((await client.fetch(at, request())).status, 200)
      if (i === 0) await bench.deposited(payer, 5n * USDC - USDC / 2n)
    }
    assert.equal(await bench.usdc(payer), 5n * USDC - USDC / 2n)
    assert.deepEqual(
      [owner.api.runs, replica.api.runs].sort((a, b) => a - b),
      [0, 8]
    )
  })

  it('is claimed like any channel, 95 to 5, exact to the atom', async () => {
    const earned = await owner.store.ledger.balances('earned/')
    const due = -earned.reduce((sum, { amount }) => sum + amount, 0n)
    const [provider, treasury] = await Promise.all([bench.usdc(bench.provider), bench.usdc(bench.treasury)])
    await owner.paymentScheme.settlement.redeemer.settleNow()
    const share = (due * 5n) / 100n
    assert.equal((await bench.usdc(bench.treasury)) - treasury, share)
    assert.equal((await bench.usdc(bench.provider)) - provider, due - share)
  })
})
