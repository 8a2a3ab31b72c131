import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CallOptions, type ClientInit, createClient } from '../../client/index.ts'
import { limits, SoukError as NodeError } from '../../lib/index.ts'
import type { CallInit } from '../../lib/interface/index.ts'
import { answer, PROVIDER, type Running, startIngress } from '../node/ingress/harness.ts'
import { fails } from './fails.ts'

const TEXT = 'text/plain; charset=utf-8'

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = []
  for await (const item of items) seen.push(item)
  return seen
}

describe('souk/client', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress()
  })
  beforeEach(() => {
    ingress.calls.length = 0
    ingress.onCall = () => answer()
  })
  after(() => ingress.close())

  const client = (init: Partial<ClientInit> = {}) => createClient({ ingress: ingress.url, key: ingress.key, ...init })
  const last = (): CallInit => ingress.calls.at(-1)!
  const sent = (): unknown => JSON.parse(Buffer.from(last().body as Uint8Array).toString())
  const replies = (type: string, body: string | Uint8Array | AsyncIterable<Uint8Array>, status = 200) => {
    ingress.onCall = () =>
      answer({
        headers: [['content-type', type]],
        body: typeof body === 'string' ? Buffer.from(body) : body,
        status,
        charged: status < 400 ? 1_000n : 0n
      })
  }

  describe('call', () => {
    it('posts the operation with its fields, and returns the response with its charge', async () => {
      const { status, body, charged, requestId, headers } = await client().call('ticker', 'latest', { symbol: 'BTC' })
      assert.deepEqual([status, body, charged], [200, { ok: true }, '0.001'])
      assert.equal(requestId, headers.get('X-Request-Id'))
      assert.deepEqual(sent(), { symbol: 'BTC', operation: 'latest' })
      assert.deepEqual(last().api, { name: 'ticker' })
    })

    it('names no operation without one, and the provider if it is given', async () => {
      await client().call(`ticker@${PROVIDER}`, '', { query: '{ a }' })
      assert.deepEqual([sent(), last().api], [{ query: '{ a }' }, { name: 'ticker', provider: PROVIDER }])
      await client().call('ticker', '')
      assert.deepEqual(sent(), {})
    })

    it('sends no empty object in place of a Map or a generator', async () => {
      for (const input of [new Map([['a', 1]]), new Set([1]), [1].values()]) {
        await fails(client().call('ticker', 'a', input), 'invalid_request')
      }
      assert.equal(ingress.calls.length, 0)
    })

    it('passes on its options', async () => {
      await client({ maxPrice: '0.02' }).call('ticker', 'a', {}, { idempotencyKey: 'a "b"', timeoutMs: 5_000 })
      assert.deepEqual([last().idempotencyKey, last().maxPrice, last().timeoutMs! <= 5_000], ['a "b"', '0.02', true])
      await client({ maxPrice: '0.02' }).call(
        'ticker',
        'a',
        {},
        { maxPrice: '0.01', headers: { 'accept-language': 'no' } }
      )
      assert.equal(last().maxPrice, '0.01')
      assert.deepEqual(last().headers!.find(([name]) => name === 'accept-language')?.[1], 'no')
      // A function that passes on its caller's options compiles.
      const passedOn = (options: CallOptions) => client().call('ticker', 'a', {}, options)
      assert.equal((await passedOn({ as: 'text' })).body, '{"ok":true}')
    })

    it('calls by method and path, with any body', async () => {
      const bytes = Uint8Array.of(0, 255, 10)
      await client().call('files', '', new Blob([bytes], { type: 'image/png' }), { method: 'PUT', path: '/a%20b?x=1' })
      assert.deepEqual([last().method, last().path], ['PUT', '/a%20b?x=1'])
      assert.equal(last().headers!.find(([name]) => name === 'content-type')?.[1], 'image/png')
      for (const body of [bytes, new Blob([bytes]).stream()]) {
        ingress.onCall = async ({ body }) =>
          answer({ body: Buffer.concat(await all(body as AsyncIterable<Uint8Array>)) })
        const echoed = await client().call('files', '', body, { method: 'PUT', path: '/a', as: 'bytes' })
        assert.deepEqual(echoed.body, bytes)
      }
      ingress.onCall = () => answer()
      await client().call('files', '', undefined, { method: 'get', path: '?a=1' })
      assert.deepEqual([last().method, last().path], ['GET', '?a=1'])
    })

    it('asks for no stored response, also of a POST, which Next.js 14 stores', async () => {
      const caches: unknown[] = []
      const noting: NonNullable<ClientInit['fetch']> = async (url, init) => {
        caches.push(init.cache)
        return fetch(url, init)
      }
      await client({ fetch: noting }).call('ticker', 'latest', { symbol: 'BTC' })
      await client({ fetch: noting }).call('files', '', undefined, { method: 'GET', path: '/a' })
      assert.deepEqual(caches, ['no-store', 'no-store'])
    })

    it('works where requests have no cache, as in older Cloudflare Workers', async () => {
      const cache = Object.getOwnPropertyDescriptor(Request.prototype, 'cache')!
      const worker: NonNullable<ClientInit['fetch']> = async (url, init) => {
        if ('cache' in init) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.")
        return fetch(url, init)
      }
      Reflect.deleteProperty(Request.prototype, 'cache')
      try {
        await client({ fetch: worker }).call('files', '', undefined, { method: 'GET', path: '/a' })
        assert.equal(last().method, 'GET')
      } finally {
        Object.defineProperty(Request.prototype, 'cache', cache)
      }
    })

    it('reads JSON, text and bytes by their type, or as asked', async () => {
      const read = async (as?: 'json' | 'text' | 'bytes') =>
        (await client().call('a', '', {}, { ...(as && { as: as as 'json' }) })).body
      replies('application/hal+json; charset=utf-8', '"é"')
      assert.deepEqual([await read(), await read('text')], ['é', '"é"'])
      replies('text/csv; charset=iso-8859-1', Uint8Array.of(0xe9))
      assert.equal(await read(), 'é')
      replies('text/csv; charset=unheard-of', 'a')
      assert.equal(await read(), 'a')
      replies('image/png', Uint8Array.of(1, 2))
      assert.deepEqual(await read(), Uint8Array.of(1, 2))
      replies('application/json', '')
      assert.equal(await read(), undefined)
      replies(TEXT, '[1]')
      assert.deepEqual([await read('json'), await read('bytes')], [[1], Uint8Array.from(Buffer.from('[1]'))])
    })

    it('can leave the body unread', async () => {
      replies('video/mp4', Uint8Array.of(1, 2, 3))
      const { body } = await client().call('a', '', {}, { as: 'stream' })
      assert.deepEqual(Buffer.concat(await all(body as unknown as AsyncIterable<Uint8Array>)), Buffer.of(1, 2, 3))
    })

    it('is what `for` makes of an operation, and of the API itself', async () => {
      type Ticker = { latest: { input: { symbol: string }; output: { ok: boolean } } }
      type Users = { '': { input: { query: string }; output: { data: unknown } } }
      const ticker = client().for<Ticker>('ticker')
      const { body } = await ticker.latest({ symbol: 'BTC' })
      assert.deepEqual([body.ok, sent()], [true, { symbol: 'BTC', operation: 'latest' }])
      await client().for<Users>('users')({ query: '{ a }' })
      assert.deepEqual(sent(), { query: '{ a }' })
      assert.equal(await Promise.resolve(ticker), ticker)
      // @ts-expect-error a wrong field
      await ticker.latest({ symbl: 'BTC' })
      // @ts-expect-error a missing field
      await ticker.latest()
    })
  })

  describe('errors', () => {
    it('of the ingress have its code, and nothing was charged', async () => {
      const { status, source, retryable, charged, requestId, message } = await fails(
        client({ key: `${ingress.key.slice(0, -1)}_` }).call('ticker', 'a'),
        'key_invalid'
      )
      assert.deepEqual([status, source, retryable, charged], [401, 'ingress', false, '0'])
      assert.ok(requestId !== undefined && message.length > 5)
    })

    it('say if the charge is unknown', async () => {
      ingress.onCall = () => {
        throw new NodeError('call_interrupted', undefined, { source: 'owner', isChargeUnknown: true })
      }
      const { charged, source } = await fails(client().call('ticker', 'a'), 'call_interrupted')
      assert.deepEqual([charged, source, ingress.calls.length], [null, 'owner', 1])
    })

    it('of the API have its status and body', async () => {
      replies('application/json', '{"code":"price_exceeds_limit","detail":"of the API"}', 404)
      const { status, source, charged, body } = await fails(client().call('ticker', 'a'), 'api_error')
      assert.deepEqual([status, source, charged], [404, 'upstream', '0'])
      assert.deepEqual(body, { code: 'price_exceeds_limit', detail: 'of the API' })
      ingress.onCall = () => answer({ status: 429, charged: 0n, headers: [['retry-after', '2']] })
      assert.equal((await fails(client().call('ticker', 'a'), 'api_error')).retryAfterMs, 2_000)
    })

    it('of responses that cannot be read have the charge', async () => {
      replies('application/json', '{"a":')
      assert.equal((await fails(client().call('a', ''), 'unexpected_response')).charged, '0.001')
      replies('text/event-stream', 'data: 1\n\n')
      assert.match((await fails(client().call('a', ''), 'unexpected_response')).message, /client\.stream/)
      replies('application/json', broken())
      assert.equal((await fails(client().call('a', ''), 'response_broken')).charged, '0.001')
    })

    it('of mistakes in a call are found before it is sent', async () => {
      const wrong = (api: string, operation: string, input?: unknown, options?: CallOptions & { as?: 'json' }) =>
        fails(client().call(api, operation, input, options), 'invalid_request')
      for (const path of [
        '/../../v1/keys',
        '/a/%2e%2e/..%2f/%2E./../../../v1/keys',
        'a',
        '/a#b',
        '/..',
        '\\..\\..\\v1'
      ])
        await wrong('files', '', {}, { path })
      for (const api of ['', '.', '..', 'a@', '@b', 'a@..']) await wrong(api, '')
      for (const maxPrice of ['', '-1', '1e3', '0.0000001', 'NaN']) await wrong('a', '', {}, { maxPrice })
      for (const idempotencyKey of ['', 'é', 'a\nb', 'a'.repeat(256)]) await wrong('a', '', {}, { idempotencyKey })
      for (const timeoutMs of [0, -1, 1.5, Number.NaN, limits.UPSTREAM_TIMEOUT_MS_MAX + 1, 2 ** 31, Infinity])
        await wrong('a', '', {}, { timeoutMs })
      await wrong('a', 'named', new Blob([]))
      await wrong('a', '', { n: 1n })
      for (const method of ['TRACE', 'G ET']) await wrong('a', '', undefined, { method })
      await wrong('a', '', {}, { headers: { a: 'b\nc' } })
      await fails(client({ key: 'souk_live_…' }).call('a', ''), 'invalid_request')
      await fails(
        client()
          .stream('a', '', {}, { headers: { a: '…' } })
          .head(),
        'invalid_request'
      )
      await wrong('a', '', {}, { method: 'GET' })
      await wrong(undefined as unknown as string, '')
      await wrong('a', '', {}, { as: 'xml' as 'json' })
      assert.equal(ingress.calls.length, 0)
    })

    it('of the address are found at once', () => {
      for (const address of ['', 'ingress.example', 'ftp://a', 'https://u:p@a', 'https://a?key=1', 'https://a#b'])
        assert.throws(() => createClient({ ingress: address }), { code: 'invalid_request' })
      assert.throws(() => createClient({ ingress: 'http://a', maxPrice: '1,5' }), { code: 'invalid_request' })
    })

    it('of an ingress that cannot be reached leave the charge open', async () => {
      const fetch = () => Promise.reject(new TypeError('fetch failed'))
      const { charged, retryable, status } = await fails(client({ fetch }).call('a', ''), 'ingress_unreachable')
      assert.deepEqual([charged, retryable, status], [null, true, 0])
    })
  })

  describe('limits of time', () => {
    it('end a call by the reason of its signal', async () => {
      const reason = new Error('no longer needed')
      const aborter = new AbortController()
      ingress.onCall = ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new NodeError('call_interrupted')))
          aborter.abort(reason)
        })
      await assert.rejects(client().call('a', '', {}, { signal: aborter.signal }), reason)
      await assert.rejects(client().call('a', '', {}, { signal: AbortSignal.abort(reason) }), reason)
    })

    it('may be as long as those of the ingress', async () => {
      await client({ timeoutMs: limits.UPSTREAM_TIMEOUT_MS_MAX }).call('a', '')
      assert.ok(last().timeoutMs! > limits.UPSTREAM_TIMEOUT_MS_MAX / 2)
    })

    it('end a call that nobody answers', async () => {
      const fetch = (_: string, { signal }: RequestInit) =>
        new Promise<Response>((_resolve, reject) =>
          signal!.addEventListener('abort', () => reject(signal!.reason as Error))
        )
      assert.equal((await fails(client({ fetch, timeoutMs: 1 }).call('a', ''), 'timed_out')).charged, null)
    })
  })

  describe('retries', () => {
    const refuses = (
      times: number,
      code: 'overloaded' | 'quota_exceeded' | 'call_interrupted',
      notAccepted = true,
      retryAfterMs = 0
    ) => {
      ingress.onCall = () => {
        if (ingress.calls.length > times) return answer()
        throw new NodeError(code, undefined, { notAccepted, ...(retryAfterMs && { retryAfterMs }) })
      }
    }

    it('repeat what was not accepted, with the same idempotency key', async () => {
      refuses(2, 'overloaded')
      assert.equal((await client().call('a', '', {}, { idempotencyKey: 'one' })).status, 200)
      assert.deepEqual(
        ingress.calls.map(({ idempotencyKey }) => idempotencyKey),
        ['one', 'one', 'one']
      )
    })

    it('repeat nothing else', async () => {
      for (const [code, notAccepted] of [
        ['call_interrupted', false],
        ['overloaded', false],
        ['quota_exceeded', true]
      ] as const) {
        ingress.calls.length = 0
        refuses(1, code, notAccepted)
        await fails(client().call('a', '', {}, { idempotencyKey: code }), code)
        assert.equal(ingress.calls.length, 1)
      }
    })

    it('end after their number, and before the time limit', async () => {
      refuses(9, 'overloaded')
      assert.equal((await fails(client({ retries: 1 }).call('a', ''), 'overloaded')).notAccepted, true)
      assert.equal(ingress.calls.length, 2)
      refuses(9, 'overloaded', true, 20_000)
      await fails(client().call('a', '', {}, { timeoutMs: 15_000 }), 'overloaded')
      assert.equal(ingress.calls.length, 3)
    })

    it('wait as long as the ingress says', async () => {
      const { key } = await ingress.keys.issue({ label: 'slow', rateLimit: { calls: 1, perMs: 86_400_000 } })
      await client({ key }).call('a', '')
      const error = await fails(client({ key }).call('a', ''), 'rate_limited')
      assert.ok(error.notAccepted && error.retryAfterMs! > 60_000, 'too long: left to the caller')
    })
  })

  describe('stream', () => {
    const items = (stream: AsyncIterable<unknown>) => all(stream)
    const chunks = async function* (...texts: string[]) {
      for (const text of texts) yield Buffer.from(text)
    }

    it('reads server-sent events, however they are cut', async () => {
      const text =
        '\uFEFF: hi\r\nid: 1\revent: tick\r\ndata: {"a":"é"}\n\ndata\ndata: x: y\r\r\nevent: none\r\n\r\nretry: 1\ndata:[1]\n\ndata: cut'
      const expected = [
        { data: { a: 'é' }, event: 'tick', id: '1' },
        { data: '\nx: y', id: '1' },
        { data: [1], id: '1' }
      ]
      const bytes = Buffer.from(text)
      for (const size of [1, 2, 3, 7, bytes.length]) {
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size)
        )
        replies(
          'text/event-stream',
          (async function* () {
            yield* parts
          })()
        )
        assert.deepEqual(await items(client().stream('ticker', 'ticks')), expected, `chunks of ${size}`)
      }
      assert.match(last().headers!.find(([name]) => name === 'accept')![1], /^text\/event-stream/)
    })

    it('reads lines of JSON, and the last one without a line end', async () => {
      replies('application/x-ndjson', chunks('{"a":', '1}\n\n{"a":2}\r\n{"a"', ':3}'))
      assert.deepEqual(
        await items(client().stream('a', '')),
        [1, 2, 3].map((a) => ({ data: { a } }))
      )
      replies('application/json-seq', chunks('\u001E{"a":1}\n\u001E{"a":2}\n'))
      assert.deepEqual(
        await items(client().stream('a', '')),
        [1, 2].map((a) => ({ data: { a } }))
      )
    })

    it('makes one item of a whole response', async () => {
      assert.deepEqual(await items(client().stream('a', '')), [{ data: { ok: true } }])
    })

    it('ends where GraphQL says so', async () => {
      replies(
        'text/event-stream',
        chunks('event: next\ndata: {"data":{"a":1}}\n\nevent: complete\ndata:\n\n', 'data: 2\n\n')
      )
      assert.deepEqual(await items(client().stream('a', '')), [{ data: { data: { a: 1 } }, event: 'next' }])
    })

    it('tells what opening it cost, and calls once', async () => {
      replies('text/event-stream', chunks('data: 1\n\n'))
      const stream = client().stream('a', '')
      const { charged, requestId } = await stream.head()
      assert.deepEqual([charged, requestId !== ''], ['0.001', true])
      assert.deepEqual(await items(stream), [{ data: 1 }])
      await fails(items(stream), 'invalid_request')
      assert.equal(ingress.calls.length, 1)
    })

    it('ends the call when its reader leaves', async () => {
      const ended = Promise.withResolvers<void>()
      replies(
        'text/event-stream',
        (async function* () {
          try {
            for (;;) yield Buffer.from('data: 1\n\n')
          } finally {
            ended.resolve()
          }
        })()
      )
      for await (const { data } of client().stream('a', '')) {
        assert.equal(data, 1)
        break
      }
      await ended.promise
    })

    it('fails as the ingress says, when it breaks off, and when it is aborted', async () => {
      replies(
        'text/event-stream',
        chunks('data: 1\n\n', 'event: souk-end\ndata: {"code":"price_exceeds_limit","detail":"d"}\n\n')
      )
      const error = await fails(items(client().stream('a', '')), 'price_exceeds_limit')
      assert.deepEqual([error.message, error.charged], ['d', null])
      replies('text/event-stream', broken())
      assert.equal((await fails(items(client().stream('a', '')), 'response_broken')).charged, null)
      ingress.onCall = () => {
        throw new NodeError('api_not_found')
      }
      await fails(items(client().stream('a', '')), 'api_not_found')
      const reason = new Error('enough')
      const aborter = new AbortController()
      replies('text/event-stream', chunks('data: 1\n\n', 'data: 2\n\n'))
      const stream = client().stream('a', '', {}, { signal: aborter.signal })
      await stream.head()
      aborter.abort(reason)
      await assert.rejects(items(stream), reason)
    })

    it('holds at most one item', async () => {
      const line = Buffer.alloc(2 ** 20, 'a')
      replies(
        'application/x-ndjson',
        (async function* () {
          for (;;) yield line
        })()
      )
      await fails(items(client().stream('a', '')), 'response_too_large')
      for (const part of [Buffer.from(`data: ${'a'.repeat(2 ** 20)}\n`), Buffer.from('data\n'.repeat(2 ** 18))]) {
        replies('text/event-stream', chunks(...Array<string>(20).fill(part.toString()), '\n'))
        await fails(items(client().stream('a', '')), 'response_too_large')
      }
    })

    it('reads any number of items, each up to its limit', async () => {
      const event = `data: ${'a'.repeat(2 ** 22)}\n`.repeat(3)
      replies('text/event-stream', chunks(...Array<string>(3).fill(`${event}\n`)))
      let count = 0
      for await (const { data } of client().stream('a', '')) {
        assert.equal((data as string).length, 3 * 2 ** 22 + 2)
        count++
      }
      assert.equal(count, 3)
    })
  })

  describe('at an address that is no ingress', () => {
    let server: Server
    let listener: RequestListener
    before(async () => {
      server = createServer((req, res) => listener(req, res))
      await once(server.listen(0, '127.0.0.1'), 'listening')
    })
    after(() => server.close())
    const call = () =>
      createClient({ ingress: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, key: 'k' }).call(
        'a',
        ''
      )

    it('says so, and follows no redirect with the key', async () => {
      const urls: (string | undefined)[] = []
      listener = ({ url }, res) => {
        urls.push(url)
        res.writeHead(307, { location: '/elsewhere' }).end()
      }
      await fails(call(), 'unexpected_response')
      assert.deepEqual(urls, ['/base/api/demo/api/a'])
      listener = (_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
      assert.equal((await fails(call(), 'unexpected_response')).charged, null)
      listener = (_, res) => res.writeHead(502).end('Bad gateway')
      assert.equal((await fails(call(), 'unexpected_response')).retryable, true)
    })
  })
})

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('data: 1\n\n')
  throw new Error('gone')
}
