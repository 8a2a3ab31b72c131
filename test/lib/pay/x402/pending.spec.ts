import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { x402Client } from '@x402/core/client'
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
  x402HTTPClient
} from '@x402/core/http'
import type { Problem } from '../../../../lib/base/errors.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { type ChainProxy, proxyChain } from '../../../helpers/chain-proxy.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
/** Above the credit, so that a deposit is waited for. */
const PRICE = 40_000n

describe('x402, a settlement whose outcome is unknown', () => {
  let bench: KeylessBench
  let proxy: ChainProxy
  before(async () => {
    bench = await keylessBench()
    proxy = await proxyChain(bench.parameters.rpcUrl)
  })
  after(async () => {
    await bench.close()
    await proxy.close()
  })
  beforeEach(() => {
    proxy.fault = 'none'
  })

  type Owner = Awaited<ReturnType<typeof start>>
  async function start(store = createMemoryStore(), privateKey?: Awaited<ReturnType<typeof generateKeyPair>>) {
    const key = privateKey ?? (await generateKeyPair('Ed25519'))
    const node = await bench.startOwner({ store, privateKey: key, rpcUrl: proxy.url })
    await node.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, node.api)
    const url = `${await bench.startIngress(node)}/api/demo/api/counter`
    return { ...node, store, url, again: () => start(store, key) }
  }
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const pay = ({ url }: Owner, text: string) =>
    fetch(url, { ...request, headers: { ...request.headers, 'payment-signature': text } })
  const schemes = {
    exact: (name: string) => bench.stock(name),
    'batch-settlement': (name: string) => bench.batch(name).config
  }
  async function payment({ url }: Owner, client: x402Client): Promise<string> {
    const required = decodePaymentRequiredHeader((await fetch(url, request)).headers.get('payment-required')!)
    return encodePaymentSignatureHeader(await client.createPaymentPayload(required))
  }
  async function assertPending(response: Response): Promise<string> {
    const problem = (await response.json()) as Problem
    assert.deepEqual([response.status, problem.code], [503, 'settlement_pending'])
    const { success, errorReason, transaction } = decodePaymentResponseHeader(response.headers.get('payment-response')!)
    assert.deepEqual([success, errorReason], [false, 'settlement_pending'])
    return transaction
  }
  const settled = (owner: Owner, text: string) =>
    bench.eventually('the response', 20_000, async () => {
      const response = await pay(owner, text)
      if (response.status === 200) return response
      assert.equal(((await response.json()) as Problem).code, 'settlement_pending')
      return undefined
    })

  for (const scheme of ['exact', 'batch-settlement'] as const) {
    describe(scheme, () => {
      it('is pending while the endpoint answers nothing after the transaction was sent; the same payment finds it', async () => {
        const payer = await bench.payer(`unheard ${scheme}`, USDC)
        const owner = await start()
        const client = x402Client.fromConfig(schemes[scheme](`unheard ${scheme}`))
        const text = await payment(owner, client)
        const met = proxy.unansweredFrom('eth_sendRawTransaction')
        const first = pay(owner, text)
        await met
        assert.match(await assertPending(await first), /^0x[0-9a-f]{64}$/)
        // It was sent all the same.
        assert.ok((await bench.usdc(payer)) < USDC)
        proxy.fault = 'none'
        const response = await settled(owner, text)
        assert.deepEqual([await response.json(), owner.api.runs], [{ run: 1 }, 1])
        const paid = await bench.usdc(payer)
        assert.deepEqual([(await settled(owner, text)).status, await bench.usdc(payer)], [200, paid])
        assert.equal(owner.api.runs, 1)
        await owner.stop()
      })

      it('finds its response after the owner was stopped in between', async () => {
        const payer = await bench.payer(`stopped ${scheme}`, USDC)
        const owner = await start()
        const client = x402Client.fromConfig(schemes[scheme](`stopped ${scheme}`))
        const text = await payment(owner, client)
        const met = proxy.unansweredFrom('eth_sendRawTransaction')
        const first = pay(owner, text)
        await met
        await owner.stop()
        assert.notEqual((await first).status, 402)
        proxy.fault = 'none'
        const next = await owner.again()
        assert.deepEqual([(await settled(next, text)).status, owner.api.runs + next.api.runs], [200, 1])
        const spent = scheme === 'exact' ? PRICE : USDC / 2n
        assert.equal(await bench.usdc(payer), USDC - spent)
        await next.stop()
      })
    })
  }

  describe('of a voucher', () => {
    const client = async (name: string) => {
      await bench.payer(name, USDC)
      return x402Client.fromConfig(bench.batch(name).config)
    }
    const paidBy = async (owner: Owner, of: x402Client) => {
      const text = await payment(owner, of)
      const response = await pay(owner, text)
      const payload = decodePaymentSignatureHeader(text)
      const http = new x402HTTPClient(of)
      await http.processPaymentResult(payload, (name) => response.headers.get(name), response.status)
      return { text, response }
    }

    it('is found by the same payment, also after a restart, and charged once', async () => {
      const owner = await start()
      const careful = await client('careful')
      await paidBy(owner, careful)
      const { text, response } = await paidBy(owner, careful)
      assert.deepEqual(await response.json(), { run: 2 })
      await owner.stop()
      const next = await owner.again()
      const again = await pay(next, text)
      assert.deepEqual([again.status, await again.json(), next.api.runs], [200, { run: 2 }, 0])
      const { channelState } = decodePaymentResponseHeader(again.headers.get('payment-response')!).extra!
      assert.equal((channelState as Record<string, string>)['chargedCumulativeAmount'], String(2n * PRICE))
      await next.stop()
    })

    it('pays for no other request, and an equal voucher of another payment is stale', async () => {
      const owner = await start()
      const { text } = await paidBy(owner, await client('sly'))
      const headers = { ...request.headers, 'payment-signature': text }
      const other = await fetch(owner.url, { ...request, headers, body: '{"other":true}' })
      assert.deepEqual([other.status, ((await other.json()) as Problem).code], [409, 'payment_id_conflict'])
      const payload = decodePaymentSignatureHeader(text)
      payload.payload['type'] = 'voucher'
      delete payload.extensions
      assert.equal((await pay(owner, encodePaymentSignatureHeader(payload))).status, 402)
      assert.equal(owner.api.runs, 1)
      await owner.stop()
    })
  })
})
