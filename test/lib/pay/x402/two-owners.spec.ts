import assert from 'node:assert/strict'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { Problem } from '../../../../lib/base/errors.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench, reply } from '../../../helpers/keyless-bench.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'

const USDC = 1_000_000n
const PRICE = 40_000n

describe('x402 exact, at two owners of one API with one PostgreSQL', () => {
  let bench: KeylessBench
  let postgres: TestPostgres
  let owners: Array<Awaited<ReturnType<KeylessBench['startOwner']>>>
  let urls: string[]

  before(async () => {
    ;[bench, postgres] = await Promise.all([keylessBench({ isPatient: true }), startPostgres()])
    const url = await postgres.create()
    const shared = () => ({ sharedStore: createPostgresStore({ url }) })
    const first = await bench.startOwner(shared())
    const signer = keySigner(Buffer.alloc(32, 22))
    await bench.fundGas(signer.address)
    const bootstrap = first.libp2p.getMultiaddrs().map(String)
    const second = await bench.startOwner({ ...shared(), signer, bootstrap })
    const { signed } = await first.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, first.api)
    await first.souk.delegate(second.libp2p.peerId.toString())
    await eventually('the delegation', 10_000, () =>
      second.souk.serveReplica(signed.id, second.api).then(
        () => true,
        () => undefined
      )
    )
    owners = [first, second]
    // The ingress of an owner calls its own node.
    const nodes = [...owners, await bench.startConsumer(first)]
    urls = await Promise.all(nodes.map(async (node) => `${await bench.startIngress(node)}/api/demo/api/${signed.id}`))
  })
  after(async () => {
    await bench?.close()
    await postgres?.stop()
  })
  beforeEach(() => {
    for (const { api } of owners) api.runs = 0
  })

  const runs = () => owners.map(({ api }) => api.runs)
  const post = (at: number, headers: Record<string, string> = {}, body = '{}') =>
    fetch(urls[at] ?? '', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const pay = (at: number, text: string, body = '{}') => post(at, { 'payment-signature': text }, body)

  async function payment(name: string): Promise<string> {
    const required = decodePaymentRequiredHeader((await post(0)).headers.get('payment-required') ?? '')
    return encodePaymentSignatureHeader(await x402Client.fromConfig(bench.stock(name)).createPaymentPayload(required))
  }

  it('pays for one call, whose response any other node gets again', async () => {
    const payer = await bench.payer('twice', USDC)
    const text = await payment('twice')
    assert.equal((await pay(0, text)).status, 200)
    const refused = await pay(1, text)
    const { code, not_accepted } = (await refused.json()) as Problem
    assert.deepEqual([refused.status, code, not_accepted], [503, 'settlement_pending', true])
    for (let i = 0; i < 4; i++) {
      const response = await pay(2, text)
      assert.deepEqual([response.status, await response.json()], [200, { run: 1 }])
    }
    assert.deepEqual(runs(), [1, 0])
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it('pays for one call of many at once', async () => {
    const payer = await bench.payer('at once', USDC)
    const text = await payment('at once')
    const statuses = await Promise.all([0, 1, 0, 1, 0, 1].map(async (at) => (await pay(at, text)).status))
    assert.equal(
      runs().reduce((sum, each) => sum + each),
      1
    )
    assert.ok(
      statuses.every((status) => status === 200 || status === 503),
      statuses.join()
    )
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it('does not pay for another request at the other owner', async () => {
    await bench.payer('other', USDC)
    const text = await payment('other')
    assert.equal((await pay(0, text)).status, 200)
    const refused = await pay(1, text, '{"other":true}')
    assert.deepEqual([refused.status, ((await refused.json()) as Problem).code], [409, 'payment_id_conflict'])
    assert.deepEqual(runs(), [1, 0])
  })

  it('can be used at the other owner after a failed call', async () => {
    const payer = await bench.payer('unlucky', USDC)
    const text = await payment('unlucky')
    const { answer } = owners[0]!.api
    owners[0]!.api.answer = () => reply(500, {})
    assert.equal((await pay(0, text)).status, 500)
    owners[0]!.api.answer = answer
    assert.equal(await bench.usdc(payer), USDC)
    assert.equal((await pay(1, text)).status, 200)
    assert.deepEqual(runs(), [1, 1])
    assert.equal(await bench.usdc(payer), USDC - PRICE)
  })

  it('is pending at the other owner while the one that has it is down', async () => {
    await bench.payer('down', USDC)
    const text = await payment('down')
    assert.equal((await pay(0, text)).status, 200)
    await owners[0]!.stop()
    const refused = await pay(1, text)
    assert.deepEqual([refused.status, ((await refused.json()) as Problem).code], [503, 'settlement_pending'])
    assert.deepEqual(runs(), [1, 0])
  })
})
