import assert from 'node:assert/strict'
import { handler, limits, systemClock, systemRandom } from '../../../lib/index.ts'
import type { Adapter, AdapterRequest, Headers, Souk } from '../../../lib/interface/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { createIngress, type Ingress } from '../../../node/ingress/ingress.ts'
import { createKeys } from '../../../node/keys/keys.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { within } from '../../helpers/eventually.ts'
import { eventually } from './harness.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The ingress with the real library: an owner node, and a consumer node with the ingress. */
describe('ingress over the overlay', () => {
  let net: Testnet
  let owner: Souk
  let ingress: Ingress
  let url: string
  let key: string

  before(async () => {
    net = await createTestnet({ nodes: 2 })
    const [first, second] = net.nodes
    assert.ok(first !== undefined && second !== undefined)
    owner = first.souk
    const seams = { clock: systemClock, random: systemRandom }
    const { documents } = second.souk.store
    const keys = createKeys({ documents, secret: Buffer.alloc(32, 3), network: 'dev', ...seams })
    key = (await keys.issue({ label: 'tests' })).key
    const log = { warn() {}, error: (message: string, facts: unknown) => console.error(message, facts) }
    const spending = new Spending({ caps: new DailyCaps({ clock: systemClock, documents }) })
    ingress = createIngress({
      souk: second.souk,
      keys,
      spending,
      ...seams,
      log,
      options: { host: '127.0.0.1', port: 0 }
    })
    url = (await ingress.listen()).url
  })
  after(async () => {
    await ingress.close()
    await net.stop()
  })

  const send = (path: string, body: BodyInit | null, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(url + path, {
      method,
      body,
      headers: { 'content-type': 'application/json', 'x-consumer-key': key, ...headers },
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {})
    })
  const code = async (response: Response) => ((await response.json()) as { code: string }).code

  /** An adapter whose responses the test defines. */
  const scripted = (call: Adapter['call']): Adapter => ({
    protocol: 'REST',
    description: { operations: [{ name: 'call' }] },
    call
  })
  const plain = { headers: [], success: true, upstreamMs: 0 }

  it('transfers a call and its response', async () => {
    await owner.serve(
      { name: 'echo', price: '0.001' },
      handler(({ body }) => ({ echoed: body }))
    )
    const response = await send('/api/demo/api/echo', '{"symbol":"BTC"}')
    assert.deepEqual([response.status, await response.json()], [200, { echoed: { symbol: 'BTC' } }])
    assert.equal(response.headers.get('souk-price'), '0.001')
    assert.equal(response.headers.get('souk-charged'), '0')
    assert.equal(response.headers.get('souk-owner'), owner.status().peer)
    assert.match(response.headers.get('server-timing') ?? '', /lookup;dur=.*upstream;dur=/)

    const { provider } = owner.status()
    assert.equal((await send(`/api/${provider}/api/echo`, '{}')).status, 200)
    assert.equal((await send(`/api/demo/api/echo@${provider}`, '{}')).status, 200)
    const listed = (await (await fetch(`${url}/v1/apis?q=echo`)).json()) as { data: { id: string; price: string }[] }
    assert.deepEqual(
      listed.data.map(({ id, price }) => [id, price]),
      [[`echo@${provider}`, '0.001']]
    )
    const shown = (await (await fetch(`${url}/v1/apis/echo`)).json()) as { id: string }
    assert.equal(shown.id, `echo@${provider}`)
  })

  it('forwards the trace context to the API', async () => {
    let seen: AdapterRequest['headers'] = []
    await owner.serve(
      { name: 'traced', price: '0' },
      scripted(async ({ headers }) => {
        seen = headers
        return { ...plain, status: 200, body: Buffer.from('{}') }
      })
    )
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    assert.equal((await send('/api/demo/api/traced', '{}', { traceparent })).status, 200)
    assert.deepEqual(
      seen.filter(([name]) => name === 'traceparent'),
      [['traceparent', traceparent]]
    )
    await send('/api/demo/api/traced', '{}')
    assert(!seen.some(([name]) => name === 'traceparent'))
  })

  it('returns end date and successor with each response of a deprecated API', async () => {
    const upstream: Headers = [
      ['sunset', 'Sat, 31 Dec 2050 23:59:59 GMT'],
      ['link', '</docs>; rel="help"']
    ]
    const adapter = scripted(async () => ({ ...plain, status: 200, headers: upstream, body: Buffer.from('{}') }))
    await owner.serve({ name: 'old', price: '0' }, adapter)
    const { provider } = owner.status()
    const sunsetAt = Math.ceil(Date.now() / DAY_MS) * DAY_MS + 40 * DAY_MS
    await owner.move('old', 'deprecated', {
      sunsetAt,
      successor: `echo@${provider}`,
      link: 'https://api.example/end-of-old'
    })
    const { status, headers } = await send('/api/demo/api/old', '{}')
    assert.equal(status, 200)
    assert.match(headers.get('deprecation') ?? '', /^@\d{10}$/)
    assert.equal(headers.get('sunset'), new Date(sunsetAt).toUTCString())
    const [theirs, successor = '', more] = (headers.get('link') ?? '').split(', ')
    assert.equal(theirs, `<${url}/api/demo/api/old/docs>; rel="help"`)
    assert.equal(more, '<https://api.example/end-of-old>; rel="deprecation"; type="text/html"')
    const [, target = ''] = /^<(.*)>; rel="successor-version"$/.exec(successor) ?? []
    assert.equal(((await (await fetch(target)).json()) as { id: string }).id, `echo@${provider}`)
    await assert.rejects(owner.move('old', 'retired'), { code: 'invalid_request' })
  })

  it('reports an unknown API', async () => {
    const response = await send('/api/demo/api/nothing-here', '{}')
    assert.deepEqual([response.status, await code(response)], [404, 'api_not_found'])
  })

  it('applies the listing’s body limit, up to its own maximum', async () => {
    const adapter = scripted(async ({ body }) => {
      let bytes = 0
      if (body instanceof Uint8Array) bytes = body.length
      else for await (const chunk of body) bytes += chunk.length
      return { ...plain, status: 200, body: Buffer.from(String(bytes)) }
    })
    await owner.serve({ name: 'small', price: '0' }, adapter)
    await owner.serve({ name: 'large', price: '0', requestBytesMax: limits.REQUEST_BYTES_CEILING }, adapter)
    const body = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    const fits = body(limits.REQUEST_BYTES_MAX)
    const over = body(limits.REQUEST_BYTES_MAX + 1)
    assert.equal(await (await send('/api/demo/api/small', fits)).text(), String(fits.length))
    assert.equal(await (await send('/api/demo/api/large', over)).text(), String(over.length))
    for (const [name, text] of [
      ['small', over],
      ['large', body(limits.REQUEST_BYTES_CEILING + 1)]
    ] as const) {
      const response = await send(`/api/demo/api/${name}`, text)
      assert.deepEqual([response.status, await code(response)], [413, 'request_too_large'])
    }
  })

  it('streams a response event by event, and cancels it at the upstream when the client leaves', async () => {
    let next = () => {}
    let ended: unknown
    await owner.serve(
      { name: 'events', price: '0' },
      scripted(async (_request: AdapterRequest, signal) => ({
        ...plain,
        status: 200,
        headers: [['content-type', 'text/event-stream']],
        body: (async function* () {
          try {
            for (let event = 1; ; event++) {
              yield Buffer.from(`data: ${event}\n\n`)
              await new Promise<void>((resolve, reject) => {
                next = resolve
                signal.addEventListener('abort', () => reject(signal.reason as Error))
              })
            }
          } finally {
            ended = true
          }
        })()
      }))
    )
    const client = new AbortController()
    const response = await fetch(`${url}/api/demo/api/events`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-consumer-key': key },
      signal: client.signal
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const reader = response.body?.getReader()
    assert.ok(reader !== undefined)
    for (const event of [1, 2, 3]) {
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), `data: ${event}\n\n`)
      next()
    }
    client.abort()
    await reader.closed.catch(() => {})
    await eventually(() => ended === true)
  })

  it('cuts a response that breaks', async () => {
    let hangUp = () => {}
    await owner.serve(
      { name: 'broken', price: '0' },
      scripted(async () => ({
        ...plain,
        status: 200,
        body: (async function* () {
          yield Buffer.alloc(100_000)
          await new Promise<void>((resolve) => (hangUp = resolve))
          throw new Error('the upstream hung up')
        })()
      }))
    )
    const response = await send('/api/demo/api/broken', '{}')
    assert.equal(response.status, 200)
    const reader = response.body?.getReader()
    assert.ok(reader !== undefined)
    for (let bytes = 0; bytes < 100_000; ) bytes += (await reader.read()).value?.length ?? 0
    hangUp()
    await assert.rejects(reader.read())
  })

  it('streams uploads if the listing forwards methods and paths', async () => {
    let seen: Partial<AdapterRequest> = {}
    await owner.serve(
      { name: 'files', price: '0', forwardsPaths: true },
      scripted(async ({ method, path, body }) => {
        let bytes = 0
        if (body instanceof Uint8Array) bytes = body.length
        else for await (const chunk of body) bytes += chunk.length
        seen = { method, path }
        return { ...plain, status: 201, body: Buffer.from(String(bytes)) }
      })
    )
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 10; i++) controller.enqueue(new Uint8Array(50_000))
        controller.close()
      }
    })
    const headers = { 'content-type': 'application/octet-stream' }
    const response = await send('/api/demo/api/files/a%2Fb?v=1', stream, headers, 'PUT')
    assert.deepEqual([response.status, await response.text()], [201, '500000'])
    assert.deepEqual(seen, { method: 'PUT', path: '/a%2Fb?v=1' })
  })

  it('returns the owner’s error if a listing allows POST only', async () => {
    const response = await send('/api/demo/api/echo', null, {}, 'GET')
    assert.equal(response.headers.get('allow'), 'POST')
    assert.deepEqual([response.status, await code(response)], [405, 'method_not_allowed'])
  })

  it('respects the consumer’s time limit', async () => {
    let isSilent = false
    await owner.serve(
      { name: 'slow', price: '0' },
      scripted((_request, signal) =>
        isSilent
          ? new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason as Error))
            })
          : Promise.resolve({ ...plain, status: 200, body: Buffer.from('{}') })
      )
    )
    // The first call of an API includes a lookup, which would count towards the limit.
    assert.equal((await send('/api/demo/api/slow', '{}')).status, 200)
    isSilent = true
    const sent = send('/api/demo/api/slow', '{}', { 'souk-timeout-ms': '300' })
    const response = await within('the response', 2_000, sent)
    assert.deepEqual([response.status, await code(response)], [504, 'upstream_timeout'])
  })

  it('rejects a price above the consumer’s maximum', async () => {
    const response = await send('/api/demo/api/echo', '{}', { 'souk-max-price': '0.0005' })
    assert.deepEqual([response.status, await code(response)], [402, 'price_exceeds_limit'])
  })

  it('reports a paused listing', async () => {
    await owner.move('echo', 'paused')
    await eventually(() => owner.listings().some(({ state }) => state === 'paused'))
    const response = await send('/api/demo/api/echo', '{}')
    assert.deepEqual([response.status, await code(response)], [503, 'api_paused'])
  })
})
