import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TailItem } from '../../../../node/admin/events/webhook-api.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type Bench, startBench, TOKEN } from '../harness.ts'

describe('events of the admin API', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await startBench()
  })
  afterEach(() => bench.stop())

  const register = (name: string) =>
    bench.client.request('POST /apis', {
      body: { name, protocol: 'REST', endpoint: 'http://127.0.0.1:1/', price: '0.001' }
    })

  /** Items of the stream, once it is open. */
  async function reading(input: { types?: string; calls?: '1' } = {}): Promise<{ items: TailItem[]; stop(): void }> {
    const items: TailItem[] = []
    const stop = new AbortController()
    const stream = bench.client.events(input, stop.signal)[Symbol.asyncIterator]()
    void (async () => {
      for (let next = await stream.next(); next.done !== true; next = await stream.next()) items.push(next.value)
    })().catch(() => undefined)
    // Issue keys until the stream reports one. From then on it misses no event.
    await eventually('a reader', 5_000, async () => {
      await bench.client.request('POST /keys', { body: { label: 'probe' } })
      return items.length > 0 ? true : undefined
    })
    items.length = 0
    return { items, stop: () => stop.abort() }
  }

  it('streams events of listings and keys', async () => {
    const { items, stop } = await reading()
    await register('shop')
    await bench.client.request('POST /apis/:name/pause', { params: { name: 'shop' } })
    await bench.client.request('DELETE /apis/:name', { params: { name: 'shop' } })
    const wanted = ['listing.published', 'listing.paused', 'listing.removed']
    await eventually('all of it', 5_000, () =>
      wanted.every((type) => items.some((item) => item.type === type)) ? true : undefined
    )
    const published = items.find(({ type }) => type === 'listing.published')
    assert.deepEqual(published?.['data'], { api: `shop@${bench.souk.status().provider}`, price: '0.001', revision: 1 })
    stop()
  })

  it('streams each update of a listing once, and nothing of a command that changes nothing', async () => {
    await register('shop')
    const { items, stop } = await reading()
    const params = { name: 'shop' }
    const set = (price: string) => bench.client.request('PATCH /apis/:name', { params, body: { price } })
    await set('0.002')
    await set('0.002')
    await bench.client.request('PUT /apis/:name/plans/:plan', {
      params: { ...params, plan: 'basic' },
      body: { fee: '1', period: 'month' }
    })
    await bench.client.request('POST /apis/:name/pause', { params })
    await bench.client.request('POST /apis/:name/pause', { params })
    await set('0.003')
    await bench.client.request('POST /apis/:name/resume', { params })
    await bench.client.request('DELETE /apis/:name', { params })
    await eventually('the last one', 5_000, () => items.some(({ type }) => type === 'listing.removed') || undefined)
    stop()
    const shown = items.map(({ type, data }) => `${type} ${(data as { price?: string }).price ?? ''}`.trim())
    assert.deepEqual(
      shown.filter((line) => line.startsWith('listing.')),
      [
        'listing.published 0.002',
        'listing.published 0.002',
        'listing.paused',
        'listing.published 0.003',
        'listing.removed'
      ]
    )
  })

  it('streams calls with their timing, and returns the time series', async () => {
    await register('shop')
    const { head, body } = await bench.client.call({ api: 'shop', body: {} })
    for await (const _ of body);
    await assert.rejects(bench.client.call({ api: 'nowhere', body: {} }), { code: 'api_not_found' })

    const stop = new AbortController()
    const told: TailItem[] = []
    for await (const item of bench.client.events({ calls: '1', recent: '1' }, stop.signal)) {
      told.push(item)
      if (told.length === 2) break
    }
    stop.abort()
    const [made, failed] = told
    assert.equal(made?.['request_id'], head.request_id)
    assert.deepEqual(made?.['timing'], head.timing)
    assert.deepEqual([failed?.['role'], failed?.['code'], failed?.['charged']], ['payer', 'api_not_found', '0'])

    const { total, points, step_ms } = await bench.client.request('GET /series', {
      query: { role: 'payer', since: Date.now() - 60_000 }
    })
    assert.deepEqual([total.calls, total.errors, step_ms], [2, 1, 60_000])
    assert.equal(
      points.reduce((sum, { calls }) => sum + calls, 0),
      2
    )
    assert.equal((await bench.client.request('GET /series', { query: { since: 0 } })).points.length, 7 * 24 * 4)
    await assert.rejects(bench.client.request('GET /series', { query: { since: -1 } }), { code: 'invalid_request' })

    const metrics = await fetch(`${bench.url}/admin/v1/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    assert.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    assert.match(await metrics.text(), /^souk_calls_total\{role="payer",outcome="ok"\} 1$/m)
  })

  it('accepts only known event types as filters', async () => {
    await assert.rejects(
      bench.client.events({ types: 'nonsense' }, AbortSignal.timeout(30_000))[Symbol.asyncIterator]().next(),
      {
        code: 'invalid_request'
      }
    )
  })

  it('ends the streams when the node stops, even if events still happen', async () => {
    const stopping = await startBench()
    const response = await fetch(`${stopping.url}/admin/v1/events`, { headers: { authorization: `Bearer ${TOKEN}` } })
    assert.equal(response.status, 200)
    const stopped = stopping.stop()
    stopping.events.feed.tell(stopping.events.make('listing.removed', { api: 'a@b' }))
    assert.doesNotMatch(await response.text(), /listing\.removed/)
    await stopped
  })

  it('adds, lists, tests, rotates and removes webhooks, and shows each secret once', async () => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(String(request.headers['webhook-id']))
      response.writeHead(204).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      await assert.rejects(bench.client.request('POST /webhooks', { body: { url } }), { code: 'invalid_request' })
      const added = await bench.client.request('POST /webhooks', {
        body: { url, events: ['listing.*'], allow_private: true }
      })
      assert.match(added.secret, /^whsec_/)
      const { webhooks } = await bench.client.request('GET /webhooks')
      assert.deepEqual([webhooks[0]?.id, webhooks[0]?.state, webhooks[0]?.note], [added.id, 'active', null])
      assert.ok(!('secret' in (webhooks[0] ?? {})))
      assert.deepEqual(await bench.client.request('POST /webhooks/:id/test', { params: { id: added.id } }), {
        taken: true,
        why: null
      })
      assert.notEqual(
        (await bench.client.request('POST /webhooks/:id/rotate', { params: { id: added.id } })).secret,
        added.secret
      )
      await register('shop')
      await eventually('the delivery', 5_000, () => (seen.length === 2 ? true : undefined))
      await bench.client.request('DELETE /webhooks/:id', { params: { id: added.id } })
      assert.deepEqual((await bench.client.request('GET /webhooks')).webhooks, [])
      await assert.rejects(bench.client.request('POST /webhooks/:id/test', { params: { id: added.id } }), {
        code: 'invalid_request'
      })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
