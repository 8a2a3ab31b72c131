import assert from 'node:assert/strict'
import { limits } from '../../../../lib/index.ts'
import { demoKey } from '../../../../node/keys/demo-key.ts'
import { keyKind } from '../../../../node/keys/format.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'
import { answer, type Running, startIngress } from '../harness.ts'

describe('ingress: the public demo key', () => {
  const { key, holder } = demoKey('test', ['ticker', 'users'])
  let clock: ManualClock
  let ingress: Running
  const call = async (api = 'ticker', headers: Record<string, string> = {}) => {
    const response = await ingress.post(`/api/demo/api/${api}`, {}, { 'x-consumer-key': key, ...headers })
    return [response.status, ((await response.json()) as { code?: string }).code] as const
  }

  beforeEach(async () => {
    clock = manualClock()
    ingress = await startIngress({}, clock, ['ticker', 'users'])
  })
  afterEach(() => ingress.close())

  it('is the same everywhere, well-formed, and recognisable', () => {
    assert.equal(demoKey('test', ['other']).key, key)
    assert.equal(keyKind(key), 'test')
    assert.match(key, /^souk_test_SharedPublicDemoKey/)
    assert.match(demoKey('live', ['other']).key, /^souk_live_SharedPublicDemoKey/)
    assert.ok(holder.dailyCap < limits.KEY_DAILY_ATOMS_MAX && holder.maxPrice < limits.CALL_PRICE_ATOMS_MAX)
  })

  it('calls only the demo APIs', async () => {
    assert.deepEqual(
      [await call('ticker'), await call('users')],
      [
        [200, undefined],
        [200, undefined]
      ]
    )
    assert.deepEqual(await call('shop'), [403, 'key_not_permitted'])
    assert.equal(ingress.calls.at(-1)?.maxPrice, '0.02')
  })

  it('is invalid unless the operator enables it', async () => {
    await ingress.close()
    ingress = await startIngress()
    assert.deepEqual(await call(), [401, 'key_invalid'])
  })

  it('is limited to a number of calls per host', async () => {
    for (let i = 0; i < limits.DEMO_CALLS_PER_HOST; i++) assert.equal((await call())[0], 200)
    const refused = await ingress.post('/api/demo/api/ticker', {}, { 'x-consumer-key': key })
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal((await ingress.post('/api/demo/api/ticker', {})).status, 200, 'with another key')
    await clock.advance(limits.DEMO_CALLS_PER_HOST_MS)
    assert.equal((await call())[0], 200)
  })

  it('is limited to a daily cost for the operator', async () => {
    const price = limits.DEMO_PRICE_ATOMS_MAX
    ingress.onCall = async ({ onPrice }) => {
      await onPrice?.(price)
      return answer({ price, charged: price })
    }
    for (let spent = price; spent <= limits.DEMO_DAILY_ATOMS_MAX; spent += price) assert.equal((await call())[0], 200)
    assert.deepEqual(await call(), [402, 'spend_cap_reached'])
  })

  it('cannot manage accounts or keys', async () => {
    assert.equal(holder.account, undefined)
    assert.equal(holder.manages, undefined)
    assert.deepEqual(await ingress.keys.list().then((all) => all.map(({ label }) => label)), ['tests'])
  })
})
