import assert from 'node:assert/strict'
import type { CallReply } from '../../../../lib/interface/index.ts'
import { SoukError } from '../../../../lib/index.ts'
import { answer, type Running, startIngress } from '../harness.ts'

describe('ingress: the spending limits of a key', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  /** Makes calls report `price` and then charge `charged`, or fail with it. */
  function sell(price: bigint, charged: bigint | Error = price, given: Partial<CallReply> = {}): void {
    ingress.onCall = async ({ onPrice }) => {
      await onPrice?.(price)
      if (charged instanceof Error) throw charged
      return answer({ price, charged, ...given })
    }
  }
  const issue = async (maxPrice: bigint, dailyCap: bigint) => (await ingress.keys.issue({ maxPrice, dailyCap })).key
  const call = (key: string, headers: Record<string, string> = {}) =>
    ingress.post('/api/demo/api/ticker', {}, { 'x-consumer-key': key, ...headers })
  const problem = async (response: Response) => (await response.json()) as Record<string, unknown>

  it('set the maximum price of every call, which a request may lower', async () => {
    const key = await issue(20_000n, 1_000_000n)
    await call(key)
    await call(key, { 'souk-max-price': '0.01' })
    await call(key, { 'souk-max-price': '5' })
    await call(ingress.key)
    assert.deepEqual(
      ingress.calls.map(({ maxPrice }) => maxPrice),
      ['0.02', '0.01', '0.02', '0.05']
    )
  })

  it('return 402 at the daily cap, with the rest and the time of the reset', async () => {
    sell(4_000n)
    const key = await issue(50_000n, 10_000n)
    assert.deepEqual([(await call(key)).status, (await call(key)).status], [200, 200])
    const refused = await call(key)
    assert.equal(refused.status, 402)
    const { code, left, resets_at, charged } = await problem(refused)
    assert.deepEqual([code, left, charged], ['spend_cap_reached', '0.002', false])
    assert.ok(Date.parse(String(resets_at)) - Date.now() <= 24 * 3_600_000)
    assert.equal((await call(ingress.key)).status, 200, 'each key has its own cap')
  })

  it('do not count failed calls, or the unused part of a maximum price', async () => {
    const key = await issue(50_000n, 10_000n)
    sell(10_000n, new SoukError('upstream_timeout'))
    for (let i = 0; i < 3; i++) assert.equal((await call(key)).status, 504)
    sell(10_000n, 0n)
    for (let i = 0; i < 3; i++) assert.equal((await call(key)).status, 200)
    sell(10_000n)
    assert.equal((await call(key)).status, 200)
    assert.equal((await call(key)).status, 402)
  })

  it('count a call that its owner may have charged, even if the response was lost', async () => {
    const key = await issue(50_000n, 10_000n)
    sell(10_000n, new SoukError('call_interrupted', undefined, { isChargeUnknown: true }))
    assert.deepEqual((await problem(await call(key)))['charged'], null)
    assert.equal((await problem(await call(key)))['code'], 'spend_cap_reached')
  })

  it('do not count a response that cannot be forwarded', async () => {
    const key = await issue(50_000n, 10_000n)
    for (const given of [{ status: 999 }, { headers: [['x-bad', 'a\nb']] as const }]) {
      sell(10_000n, 10_000n, given)
      assert.equal((await problem(await call(key)))['code'], 'upstream_invalid_response')
    }
    sell(10_000n)
    assert.equal((await call(key)).status, 200)
  })

  it('count a price that rises during the call once', async () => {
    const key = await issue(50_000n, 10_000n)
    ingress.onCall = async ({ onPrice }) => {
      await onPrice?.(4_000n)
      await onPrice?.(4_000n)
      await onPrice?.(5_000n)
      return answer({ price: 5_000n, charged: 5_000n })
    }
    assert.deepEqual([(await call(key)).status, (await call(key)).status, (await call(key)).status], [200, 200, 402])
  })
})
