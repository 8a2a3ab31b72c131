import assert from 'node:assert/strict'
import { createMemoryStore, limits, SoukError, systemRandom } from '../../../../lib/index.ts'
import type { CallInit, CallReply, Store } from '../../../../lib/interface/index.ts'
import { AccountFunds } from '../../../../node/accounts/account-funds.ts'
import { balanceOf, kindOf, moved, PREPAID } from '../../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../../node/accounts/accounts.ts'
import { Leases } from '../../../../node/accounts/leases.ts'
import { UnpaidCalls } from '../../../../node/accounts/unpaid-calls.ts'
import { createIngress, type Ingress, type IngressOptions } from '../../../../node/ingress/ingress.ts'
import { createKeys, type Keys } from '../../../../node/keys/keys.ts'
import { DailyCaps } from '../../../../node/spending/daily-caps.ts'
import { Spending } from '../../../../node/spending/spending.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'
import { answer, descriptionsOf } from '../harness.ts'

type Problem = Record<string, unknown>

describe('ingress: prepaid accounts', () => {
  let clock: ManualClock
  let store: Store
  let ingress: Ingress
  let keys: Keys
  let url: string
  let onCall: (init: CallInit) => Promise<CallReply>
  let deposits = 0
  const told: unknown[] = []

  async function start(options: Partial<IngressOptions> = {}): Promise<void> {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    const { documents, ledger } = store
    const seams = { clock, random: systemRandom }
    keys = createKeys({ documents, secret: Buffer.alloc(32, 7), network: 'dev', ...seams })
    const leases = new Leases({ documents, ledger, ...seams, holder: 'tests' })
    await leases.start()
    const log = { warn: (message: string) => assert.fail(message), error: (message: string) => assert.fail(message) }
    const funds = new AccountFunds({ ledger, leases, clock, holder: 'tests', log })
    const caps = new DailyCaps({ clock, documents })
    told.length = 0
    const operator = new UnpaidCalls({ clock, log: { warn: (_, facts) => void told.push(facts?.['code']) } })
    ingress = createIngress({
      souk: {
        call: (init) => onCall(init),
        search: () => assert.fail(),
        reputation: () => Promise.reject(new Error('not scripted')),
        resolve: () => assert.fail(),
        descriptions: descriptionsOf(clock)
      },
      keys,
      spending: new Spending({ caps, funds, onUnpaid: (error) => operator.tell(error) }),
      accounts: new Accounts({ documents, ledger, keys, ...seams }),
      ...seams,
      options: { host: '127.0.0.1', port: 0, opensAccounts: true, ...options },
      log
    })
    url = (await ingress.listen()).url
  }

  beforeEach(() => start())
  afterEach(() => ingress.close())

  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...headers }
    })
  const get = async (path: string, key: string) => {
    const response = await fetch(url + path, { headers: { 'x-consumer-key': key } })
    assert.equal(response.headers.get('cache-control'), 'no-store', 'another caller must not get it from a cache')
    return [response.status, (await response.json()) as Problem & { data: Problem[] }] as const
  }
  const open = async () =>
    (await (await post('/v1/account', { label: 'shop' })).json()) as Problem & { key: string; id: string }
  const topUp = (id: string, amount: bigint) =>
    store.ledger.book(
      moved({ kind: kindOf('deposit', id), reference: `deposit ${deposits++}`, at: 0 }, amount, PREPAID, balanceOf(id))
    )
  const sell = (price: bigint) => {
    onCall = async ({ onPrice, requestId }) => {
      await onPrice?.(price)
      return answer({ price, charged: price, requestId: requestId ?? new Uint8Array(16) })
    }
  }
  const call = (key: string) => post('/api/demo/api/ticker', {}, { 'x-consumer-key': key })

  it('open without authentication, and return a key that is shown once', async () => {
    const response = await post('/v1/account', { label: 'shop' })
    assert.equal(response.status, 201)
    const { id, key, key_hint, balance, label, max_price, daily_cap } = (await response.json()) as Problem
    assert.match(String(key), /^souk_test_/)
    assert.deepEqual([balance, label, max_price, daily_cap], ['0', 'shop', '0.05', '1'])
    const [status, shown] = await get('/v1/account', String(key))
    assert.equal(status, 200)
    assert.deepEqual([shown['id'], shown['key_hint'], shown['key']], [id, key_hint, undefined])
    assert.equal((await post('/v1/account')).status, 201, 'without a body')
  })

  it('do not open unless the operator allows it', async () => {
    await ingress.close()
    await start({ opensAccounts: false })
    const refused = await post('/v1/account')
    assert.equal(refused.status, 403)
    assert.equal(((await refused.json()) as Problem)['code'], 'ingress_not_allowed')
  })

  it('open at a limited rate per host', async () => {
    const statuses = []
    for (let i = 0; i <= limits.ACCOUNTS_PER_HOST; i++) statuses.push((await post('/v1/account')).status)
    assert.deepEqual(statuses, [...Array<number>(limits.ACCOUNTS_PER_HOST).fill(201), 429])
    const refused = await post('/v1/account', undefined, { 'x-forwarded-for': '192.0.2.1' })
    assert.equal(refused.status, 429, 'the header is ignored without a trusted proxy')
    assert.equal(refused.headers.get('retry-after'), '360')
    await clock.advance(limits.ACCOUNTS_PER_HOST_MS)
    assert.equal((await post('/v1/account')).status, 201)
  })

  it('are limited by the client address that a trusted proxy reports', async () => {
    await ingress.close()
    await start({ trustProxy: true })
    const from = (address: string) => post('/v1/account', undefined, { 'x-forwarded-for': address })
    for (let i = 0; i < limits.ACCOUNTS_PER_HOST; i++) await from(`198.51.100.${i}, 192.0.2.1`)
    assert.equal((await from('192.0.2.1')).status, 429)
    assert.equal((await from('192.0.2.2')).status, 201)
    for (let i = 0; i < limits.ACCOUNTS_PER_HOST; i++) await from(`2001:db8:0:1::${i}`)
    assert.equal((await from('2001:db8:0:1:ffff::1')).status, 429)
    assert.equal((await from('2001:db8:0:2::1')).status, 201)
  })

  it('reject invalid bodies', async () => {
    for (const body of [
      '{',
      '[]',
      '{"label":1}',
      '{"admin":true}',
      '"x"',
      JSON.stringify({ label: 'a'.repeat(200) })
    ]) {
      const response = await fetch(`${url}/v1/account`, { method: 'POST', body })
      assert.equal(((await response.json()) as Problem)['code'], 'invalid_request', body)
    }
    const large = await post('/v1/account', { label: 'a'.repeat(limits.ACCOUNT_BODY_BYTES_MAX) })
    assert.equal(large.status, 413)
  })

  it('pay for the calls of their keys, up to the balance', async () => {
    sell(4_000n)
    const { key, id } = await open()
    const refused = await call(key)
    assert.equal(refused.status, 402)
    const { code, balance, top_up } = (await refused.json()) as Problem
    assert.deepEqual([code, balance, top_up], ['insufficient_funds', '0', '/v1/account/deposits'])
    await topUp(id, 10_000n)
    assert.deepEqual([(await call(key)).status, (await call(key)).status, (await call(key)).status], [200, 200, 402])
    const [, shown] = await get('/v1/account', key)
    assert.deepEqual([shown['balance'], shown['spent']], ['0.002', '0.008'])
  })

  it('get an error without a payment request if the ingress cannot pay, and the operator gets a warning', async () => {
    const { key, id } = await open()
    await topUp(id, 10_000n)
    const operatorKey = await keys.issue()
    for (const code of ['insufficient_funds', 'spend_cap_reached'] as const) {
      onCall = async ({ onPrice }) => {
        await onPrice?.(4_000n)
        throw new SoukError(code, 'The wallet of this node holds 0 USDC.')
      }
      for (let i = 0; i < 2; i++) {
        const refused = await call(key)
        const problem = (await refused.json()) as Problem
        assert.deepEqual([refused.status, problem['code'], problem['charged']], [503, 'settlement_unavailable', false])
        assert.doesNotMatch(String(problem['detail']), /wallet|top/)
      }
      assert.deepEqual(told.splice(0), [code])
      await clock.advance(limits.MONEY_LOOK_MS)
      await call(key)
      assert.deepEqual(told.splice(0), [code])
      assert.equal((await call(operatorKey.key)).status, 402, 'a caller on the operator’s money gets the full error')
    }
    assert.equal((await get('/v1/account', key))[1]['balance'], '0.01')
    onCall = async () => {
      throw new SoukError('spend_cap_reached', 'The daily cap of the subscription is reached.', {
        members: { subscription: 'one' }
      })
    }
    assert.equal((await call(key)).status, 402, 'the account has its own cap')
    sell(40_000n)
    assert.equal((await call(key)).status, 402, 'its own balance')
    assert.deepEqual(told, [])
  })

  it('are charged in the books before the response is sent', async () => {
    sell(4_000n)
    const { key, id } = await open()
    await topUp(id, 10_000n)
    const response = await call(key)
    const [entry] = await store.ledger.entries({ limit: 10, kinds: [kindOf('charge', id)] })
    assert.equal(entry?.reference, response.headers.get('x-request-id'))
  })

  it('are not charged for a failed call', async () => {
    const { key, id } = await open()
    await topUp(id, 4_000n)
    onCall = async ({ onPrice }) => {
      await onPrice?.(4_000n)
      return answer({ status: 204_000, charged: 4_000n })
    }
    for (let i = 0; i < 3; i++) assert.equal((await call(key)).status, 502)
    sell(4_000n)
    assert.equal((await call(key)).status, 200)
  })

  it('are not charged for a call with unknown outcome, and the error says so', async () => {
    const { key, id } = await open()
    await topUp(id, 4_000n)
    onCall = async ({ onPrice }) => {
      await onPrice?.(4_000n)
      throw new SoukError('call_interrupted', undefined, { isChargeUnknown: true })
    }
    const { charged, amount_charged } = (await (await call(key)).json()) as Problem
    assert.deepEqual([charged, amount_charged], [false, '0'])
    sell(4_000n)
    assert.equal((await call(key)).status, 200)
  })

  it('list their entries in pages', async () => {
    sell(1_000n)
    const { key, id } = await open()
    const other = await open()
    await topUp(id, 10_000n)
    await topUp(other.id, 10_000n)
    for (const each of [key, key, other.key, key]) assert.equal((await call(each)).status, 200)
    const [, { data, next_cursor }] = await get('/v1/account/entries?limit=3', key)
    assert.deepEqual(
      data.map(({ kind, amount }) => [kind, amount]),
      [
        ['deposit', '0.01'],
        ['charge', '-0.001'],
        ['charge', '-0.001']
      ]
    )
    const [, rest] = await get(`/v1/account/entries?limit=3&cursor=${String(next_cursor)}`, key)
    assert.deepEqual([rest.data.length, rest['next_cursor']], [1, null])
    assert.equal((await get('/v1/account/entries?limit=0', key))[0], 400)
    assert.equal((await get('/v1/account/entries?cursor=x', key))[0], 400)
  })

  it('are visible only to holders of their keys', async () => {
    const { key } = await keys.issue()
    assert.equal((await get('/v1/account', key))[1]['code'], 'key_not_permitted')
    assert.equal((await get('/v1/account', ''))[1]['code'], 'key_missing')
    assert.equal((await get('/v1/account/entries', 'souk_test_x'))[1]['code'], 'key_invalid')
    const none = await fetch(`${url}/v1/account`, { method: 'DELETE' })
    assert.deepEqual([none.status, none.headers.get('allow')], [405, 'GET, HEAD, POST'])
  })
})
