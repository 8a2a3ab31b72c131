import assert from 'node:assert/strict'
import { Agent, cacheStores, interceptors, request } from 'undici'
import type { Headers } from '../../../../lib/interface/index.ts'
import { answer, type Running, startIngress } from '../harness.ts'

describe('caches in front of an ingress', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  /** Requests through a cache: the statuses, and how many calls were made. */
  const through = async (type: 'shared' | 'private', headers: Headers, keys: readonly (string | undefined)[]) => {
    ingress.onCall = () => answer({ headers: [['content-type', 'text/plain'], ...headers] })
    const store = new cacheStores.MemoryCacheStore()
    const dispatcher = new Agent().compose(interceptors.cache({ store, type }))
    const statuses: number[] = []
    for (const key of keys) {
      const given = key === undefined ? {} : { 'x-consumer-key': key }
      const { statusCode, body } = await request(`${ingress.url}/api/demo/api/ticker/a`, { dispatcher, headers: given })
      await body.text()
      statuses.push(statusCode)
    }
    await dispatcher.close()
    return [statuses, ingress.calls.splice(0).length]
  }

  it('keep no paid response for callers who have not paid', async () => {
    const other = (await ingress.keys.issue({ label: 'other' })).key
    for (const value of [
      'public, max-age=3600',
      's-maxage=3600',
      'max-age=60, PUBLIC',
      'private="a, public", max-age=9'
    ]) {
      const found = await through('shared', [['Cache-Control', value]], [ingress.key, undefined, other])
      assert.deepEqual(found, [[200, 401, 200], 2], value)
    }
    const old = 'Mon, 30 Nov 2015 00:00:00 GMT'
    const found = await through('shared', [['last-modified', old]], [ingress.key, undefined])
    assert.deepEqual(found, [[200, 401], 1])
  })

  it('keep it for its own caller, as the API says', async () => {
    const other = (await ingress.keys.issue({ label: 'other' })).key
    const keys = [ingress.key, ingress.key, other, undefined]
    assert.deepEqual(await through('private', [['cache-control', 'public, max-age=60']], keys), [
      [200, 200, 200, 401],
      2
    ])
    assert.deepEqual(await through('private', [['cache-control', 'no-store, max-age=60']], keys), [
      [200, 200, 200, 401],
      3
    ])
  })

  it('get the rules of the API without those for shared caches', async () => {
    for (const [given, sent] of [
      [[], 'private'],
      [['public, max-age=5, s-maxage=9', 'Immutable'], 'private, max-age=5, immutable'],
      [['no-cache="a, b", max-age=1, max-age=2, max-age=x'], 'private, no-cache, max-age=1']
    ] as const) {
      const headers = given.map((value): [string, string] => ['cache-control', value])
      ingress.onCall = () => answer({ headers: [...headers, ['cdn-cache-control', 'max-age=9'], ['vary', 'accept']] })
      const got = (await ingress.post('/api/demo/api/ticker', {})).headers
      assert.deepEqual([got.get('cache-control'), got.get('cdn-cache-control')], [sent, null])
      assert.match(got.get('vary') ?? '', /accept.*X-Consumer-Key/)
    }
  })

  it('keep no refusal', async () => {
    const { status, headers } = await ingress.post('/api/demo/api/ticker', {}, { 'x-consumer-key': 'souk_test_none' })
    assert.deepEqual([status, headers.get('cache-control')], [401, 'no-store'])
  })
})
