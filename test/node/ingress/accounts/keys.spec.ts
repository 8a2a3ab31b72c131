import assert from 'node:assert/strict'
import { createMemoryStore, limits, systemRandom } from '../../../../lib/index.ts'
import type { ReceiptRow, Store } from '../../../../lib/interface/index.ts'
import { balanceOf, kindOf, moved, PREPAID, soldTo } from '../../../../node/accounts/account-ledger.ts'
import { Accounts } from '../../../../node/accounts/accounts.ts'
import { createIngress, type Ingress, type IngressOptions } from '../../../../node/ingress/ingress.ts'
import { createKeys, type Keys } from '../../../../node/keys/keys.ts'
import { DailyCaps } from '../../../../node/spending/daily-caps.ts'
import { Spending } from '../../../../node/spending/spending.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'
import { answer, descriptionsOf } from '../harness.ts'

type Json = Record<string, unknown> & { readonly data: Json[] }

describe('ingress: the keys of an account', () => {
  let clock: ManualClock
  let store: Store
  let ingress: Ingress
  let keys: Keys
  let url: string
  let receipts: Map<string, ReceiptRow>

  async function start(options: Partial<IngressOptions> = {}): Promise<void> {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    receipts = new Map()
    const { documents, ledger } = store
    const seams = { clock, random: systemRandom }
    keys = createKeys({ documents, secret: Buffer.alloc(32, 7), network: 'dev', ...seams })
    const log = { warn: (message: string) => assert.fail(message), error: (message: string) => assert.fail(message) }
    ingress = createIngress({
      souk: {
        call: async () => answer({ charged: 0n }),
        search: () => assert.fail(),
        reputation: () => Promise.reject(new Error('not scripted')),
        resolve: () => assert.fail(),
        descriptions: descriptionsOf(clock)
      },
      keys,
      spending: new Spending({ caps: new DailyCaps({ clock, documents }) }),
      accounts: new Accounts({ documents, ledger, keys, ...seams }),
      receipt: async (id) => receipts.get(id),
      ...seams,
      options: { host: '127.0.0.1', port: 0, opensAccounts: true, ...options },
      log
    })
    url = (await ingress.listen()).url
  }
  beforeEach(() => start())
  afterEach(() => ingress.close())

  async function ask(method: string, path: string, key: string, body?: object): Promise<[number, Json]> {
    const response = await fetch(url + path, {
      method,
      headers: { 'x-consumer-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [response.status, (await response.json()) as Json]
  }
  const open = async () => {
    const [, opened] = await ask('POST', '/v1/account', '')
    return { id: String(opened['id']), key: String(opened['key']), keyId: String(opened['key_id']) }
  }
  const issue = async (key: string, body: object = {}) => {
    const [status, made] = await ask('POST', '/v1/keys', key, body)
    assert.equal(status, 201, JSON.stringify(made))
    return { id: String(made['id']), key: String(made['key']), made }
  }

  it('are few until its first deposit', async () => {
    const { id, key } = await open()
    const first = await issue(key)
    assert.equal((await ask('DELETE', `/v1/keys/${first.id}`, key))[0], 200)
    for (let made = 2; made < limits.KEYS_PER_UNFUNDED_ACCOUNT_MAX; made++) await issue(key)
    for (const path of ['/v1/keys', `/v1/keys/${first.id}/rotate`]) {
      const [status, refusal] = await ask('POST', path, key, {})
      assert.deepEqual([status, refusal['code']], [429, 'quota_exceeded'], path)
    }
    const { documents, ledger } = store
    const accounts = new Accounts({ documents, ledger, keys, clock, random: systemRandom })
    assert.ok(await accounts.bind(id, `0x${'11'.repeat(20)}`))
    await issue(key)
  })

  it('are created by its holder, shown once, with their own terms', async () => {
    const { key, keyId } = await open()
    await clock.advance(1)
    const expires = new Date(clock.now() + 3_600_000).toISOString()
    const { made } = await issue(key, {
      label: 'shop',
      apis: ['ticker'],
      max_price: '0.01',
      daily_cap: '3',
      expires_at: expires
    })
    assert.match(String(made['key']), /^souk_test_/)
    assert.deepEqual(
      [made['label'], made['apis'], made['max_price'], made['daily_cap'], made['expires_at'], made['manages']],
      ['shop', ['ticker'], '0.01', '3', expires, false]
    )
    const [status, { data }] = await ask('GET', '/v1/keys', key)
    assert.equal(status, 200)
    assert.deepEqual(
      data.map(({ id, manages, state }) => [id, manages, state]),
      [
        [keyId, true, 'active'],
        [made['id'], false, 'active']
      ]
    )
    assert.doesNotMatch(JSON.stringify(data), /souk_test_\w/)
    assert.deepEqual((await ask('GET', `/v1/keys/${String(made['id'])}`, key))[1], data[1])
  })

  it('for calls only cannot create keys or move money', async () => {
    const { key } = await open()
    const call = await issue(key)
    for (const [method, path, body] of [
      ['POST', '/v1/keys', {}],
      ['GET', '/v1/keys', undefined],
      ['GET', `/v1/keys/${call.id}`, undefined],
      ['POST', `/v1/keys/${call.id}/rotate`, {}],
      ['POST', `/v1/keys/${call.id}/enable`, {}],
      ['DELETE', `/v1/keys/${call.id}`, undefined],
      ['GET', '/v1/receipts', undefined],
      ['GET', '/v1/account/entries', undefined]
    ] as const) {
      const [status, { code }] = await ask(method, path, call.key, body)
      assert.deepEqual([status, code], [403, 'key_not_permitted'], `${method} ${path}`)
    }
    const [status, shown] = await ask('GET', '/v1/account', call.key)
    assert.deepEqual([status, shown['manages'], shown['key_id']], [200, false, call.id])
  })

  it('are rotated with an overlap, disabled, enabled and revoked', async () => {
    const { key, keyId } = await open()
    const call = async (with_: string) => (await ask('POST', '/api/demo/api/ticker', with_, {}))[0]
    const old = await issue(key, { label: 'shop' })
    const [status, next] = await ask('POST', `/v1/keys/${old.id}/rotate`, key, { overlap_seconds: 60 })
    assert.deepEqual([status, next['label'], next['replaces'], next['lineage']], [201, 'shop', old.id, old.id])
    assert.deepEqual([await call(old.key), await call(String(next['key']))], [403, 403], 'no funds are kept here')
    await clock.advance(60_000)
    assert.deepEqual([await call(old.key), await call(String(next['key']))], [401, 403])
    assert.equal((await ask('POST', `/v1/keys/${String(next['id'])}/disable`, key))[1]['state'], 'disabled')
    assert.equal((await ask('POST', `/v1/keys/${String(next['id'])}/enable`, key))[1]['state'], 'active')
    assert.equal((await ask('DELETE', `/v1/keys/${String(next['id'])}`, key))[1]['state'], 'revoked')
    assert.equal(await call(String(next['key'])), 401)
    for (const [method, path] of [
      ['DELETE', `/v1/keys/${keyId}`],
      ['POST', `/v1/keys/${keyId}/disable`]
    ] as const) {
      assert.equal((await ask(method, path, key))[1]['code'], 'invalid_request', 'a key cannot disable itself')
    }
    const [, self] = await ask('POST', `/v1/keys/${keyId}/rotate`, key, { overlap_seconds: 0 })
    assert.equal((await ask('GET', '/v1/keys', key))[1]['code'], 'key_revoked')
    assert.equal((await ask('GET', '/v1/keys', String(self['key'])))[0], 200)
  })

  it('are invisible to other accounts, which cannot change them', async () => {
    const [mine, other] = [await open(), await open()]
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/disable'],
      ['POST', '/enable']
    ] as const) {
      const [status, { code, detail }] = await ask(method, `/v1/keys/${mine.keyId}${path}`, other.key)
      assert.deepEqual([status, code, detail], [400, 'invalid_request', 'This account has no such key.'])
      assert.deepEqual((await ask(method, `/v1/keys/key_none${path}`, other.key))[1]['detail'], detail)
    }
    assert.equal((await ask('GET', '/v1/keys', (await keys.issue()).key))[1]['code'], 'key_not_permitted')
    assert.equal((await ask('GET', '/v1/keys', ''))[1]['code'], 'key_missing')
  })

  it('reject invalid bodies', async () => {
    const { key } = await open()
    for (const body of [
      { apis: [] },
      { apis: ['NO'] },
      { max_price: '-1' },
      { daily_cap: 1 },
      { expires_at: 'tomorrow' },
      { expires_at: '2001-01-01T00:00:00Z' },
      { account: 'acct_other' },
      { label: 'a\u0007' }
    ]) {
      const [status, { code }] = await ask('POST', '/v1/keys', key, body)
      assert.deepEqual([status, code], [400, 'invalid_request'], JSON.stringify(body))
    }
    const [status] = await ask('POST', `/v1/keys/${(await issue(key)).id}/rotate`, key, { overlap_seconds: 1e9 })
    assert.equal(status, 400)
  })

  it('change at a limited rate per host', async () => {
    const { key } = await open()
    const { id } = await issue(key)
    for (let i = 1; i < limits.KEY_CHANGES_PER_HOST; i++) {
      assert.equal((await ask('POST', `/v1/keys/${id}/enable`, key))[0], 200)
    }
    assert.equal((await ask('POST', '/v1/keys', key, {}))[1]['code'], 'rate_limited')
    assert.equal((await ask('GET', '/v1/keys', key))[0], 200)
  })

  it('cannot be created if the operator disabled that, but can be revoked', async () => {
    await ingress.close()
    await start({ selfService: false })
    assert.equal((await ask('POST', '/v1/account', ''))[1]['code'], 'ingress_not_allowed')
    const { account, key } = await new Accounts({ ...store, keys, clock, random: systemRandom }).open()
    const spare = await keys.issue({ account: account.id })
    assert.equal((await ask('POST', '/v1/keys', key.key, {}))[1]['code'], 'ingress_not_allowed')
    assert.equal((await ask('POST', `/v1/keys/${spare.id}/rotate`, key.key, {}))[1]['code'], 'ingress_not_allowed')
    assert.equal((await ask('DELETE', `/v1/keys/${spare.id}`, key.key))[1]['state'], 'revoked')
  })

  it('return 405 with Allow for other methods', async () => {
    const wrong = await fetch(`${url}/v1/keys/x/rotate`)
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
    const put = await fetch(`${url}/v1/keys`, { method: 'PUT' })
    assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, HEAD, POST'])
  })

  it('show their charges with signed receipts', async () => {
    const { key, id } = await open()
    const charge = (reference: string, amount: bigint) =>
      store.ledger.book(
        moved({ kind: kindOf('charge', id), reference, at: clock.now() }, amount, balanceOf(id), soldTo(id))
      )
    await store.ledger.book(
      moved({ kind: kindOf('deposit', id), reference: 'd', at: 0 }, 10_000n, PREPAID, balanceOf(id))
    )
    for (const reference of ['a', 'b', 'c']) await charge(reference, 1_000n)
    const row: ReceiptRow = {
      requestId: 'b',
      api: 'ticker@p',
      peer: 'owner',
      charged: 1_000n,
      status: 200,
      at: 1,
      signature: 'valid',
      proof: Uint8Array.of(1, 2)
    }
    receipts.set('b', row)
    const [, page] = await ask('GET', '/v1/receipts?limit=2', key)
    const at = new Date(clock.now()).toISOString()
    const unknown = { api: null, owner: null, status: null, signature: null, proof: null }
    assert.deepEqual(page.data, [
      { request_id: 'a', at, charged: '0.001', ...unknown },
      {
        request_id: 'b',
        at,
        charged: '0.001',
        api: row.api,
        owner: 'owner',
        status: 200,
        signature: 'valid',
        proof: 'AQI='
      }
    ])
    const [, rest] = await ask('GET', `/v1/receipts?cursor=${String(page['next_cursor'])}`, key)
    assert.deepEqual([rest.data.length, rest['next_cursor']], [1, null])
  })
})
