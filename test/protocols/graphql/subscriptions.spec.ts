import assert from 'node:assert/strict'
import { type IncomingMessage, createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { EVENTS_HEARTBEAT_MS } from '../../../lib/base/limits/call.ts'
import { GRAPHQL_EVENT_BYTES_MAX, GRAPHQL_EVENTS_WAITING_MAX } from '../../../lib/base/limits/graphql.ts'
import type { Adapter, AdapterReply, GraphqlTerms, UpstreamConfig } from '../../../lib/interface/index.ts'
import { graphqlFactory } from '../../../protocols/graphql/graphql-factory.ts'
import { MULTIPART, SSE, eventStream } from '../../../protocols/graphql/result-events.ts'
import { sseResults } from '../../../protocols/graphql/sse-results.ts'
import { bytesOf, FOREVER, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { streamOf } from '../../helpers/bodies.ts'
import { eventually } from '../../helpers/eventually.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { listening, type YogaServer } from '../../helpers/yoga.ts'

const subscription = plainCall({ query: 'subscription { count }' }, [['accept', 'text/event-stream']])
const events = { 'content-type': 'text/event-stream' }

async function resultsIn(...chunks: string[]): Promise<string[]> {
  const results = sseResults(streamOf(...chunks.map((chunk) => Buffer.from(chunk))))
  const all: string[] = []
  for (let next = await results.next(); next.done !== true; next = await results.next()) all.push(next.value)
  return all
}

describe('results from server-sent events', () => {
  it('are parsed like in browsers, for any chunk boundaries', async () => {
    const text =
      ':hi\n\nevent: next\ndata: {"a":1}\n\nid: 7\r\nevent:next\r\ndata:{"a":\r\ndata: 2}\r\n\r\n' +
      'data: {"a":3}\r\rretry: 5\n\nevent: ping\ndata: no\n\nevent: next\ndata: {"ä":4}\n\nevent: complete\n\ndata: late\n\n'
    const expected = ['{"a":1}', '{"a":\n2}', '{"a":3}', '{"ä":4}']
    assert.deepEqual(await resultsIn(text), expected)
    const bytes = Buffer.from(text)
    const each = Array.from(bytes, (byte) => Buffer.of(byte))
    const results = sseResults(streamOf(...each))
    for (const value of expected) assert.deepEqual(await results.next(), { done: false, value })
    assert.equal((await results.next()).done, true)
  })

  it('end with the stream without a complete event', async () => {
    assert.deepEqual(await resultsIn('data: 1\n\ndata: 2\n\ndata: cut'), ['1', '2'])
  })

  it('are rejected past the size of one event', async () => {
    const half = 'x'.repeat(GRAPHQL_EVENT_BYTES_MAX / 2)
    await rejectsWith(resultsIn(`data: ${half}`, half), 'response_too_large')
    await rejectsWith(resultsIn(`data: ${half}\n`, `data: ${half}x\n`), 'response_too_large')
  })
})

describe('an event stream', () => {
  it('sends comments during silence', async () => {
    const clock = manualClock()
    const waiting = Promise.withResolvers<IteratorResult<string, undefined>>()
    const stream = eventStream({ next: () => waiting.promise }, clock, SSE)[Symbol.asyncIterator]()
    const textOf = ({ value }: IteratorResult<Uint8Array>) => Buffer.from(value as Uint8Array).toString()
    assert.equal(textOf(await stream.next()), ':\n\n')
    for (let beat = 0; beat < 3; beat++) {
      const next = stream.next()
      await clock.advance(EVENTS_HEARTBEAT_MS)
      assert.equal(textOf(await next), ':\n\n')
    }
    waiting.resolve({ done: false, value: '{"data":\n1}' })
    assert.equal(textOf(await stream.next()), 'event: next\ndata: {"data":\ndata: 1}\n\n')
  })
})

describe('a stream of parts', () => {
  it('ends each part with the next boundary, and is alive during silence', async () => {
    const clock = manualClock()
    const waiting = Promise.withResolvers<IteratorResult<string, undefined>>()
    const results = [waiting.promise, Promise.resolve({ done: true as const, value: undefined })]
    const next = () => results.shift() ?? assert.fail()
    const stream = eventStream({ next }, clock, MULTIPART)[Symbol.asyncIterator]()
    const read = async () => Buffer.from((await stream.next()).value as Uint8Array)
    let text = String(await read())
    const beat = read()
    await clock.advance(EVENTS_HEARTBEAT_MS)
    assert.equal(MULTIPART.frames.isEvent(await beat), false)
    text += String(await beat)
    waiting.resolve({ done: false, value: '{"data":1}' })
    const event = await read()
    assert.equal(MULTIPART.frames.isEvent(event), true)
    text += String(event) + String(await read())
    const part = (body: string) => `\r\ncontent-type: application/json\r\n\r\n${body}\r\n--graphql`
    assert.equal(text, `\r\n--graphql${part('{}')}${part('{"payload":{"data":1}}')}--\r\n`)
  })
})

describe('a subscription over SSE', () => {
  let upstream: ScriptedUpstream
  let adapter: Adapter

  beforeEach(async () => {
    upstream = await scriptedUpstream(answering(200, events, 'event: next\ndata: {"data":{"count":1}}\n\n'))
    adapter = graphqlFactory.open({ endpoint: `${upstream.url}/graphql` }, '')
  })
  afterEach(async () => {
    await adapter.close?.()
    await upstream.close()
  })
  const open = (): Promise<AdapterReply> => adapter.call(subscription, FOREVER)

  it('requests only events, as servers expect exactly that', async () => {
    const reply = await open()
    assert.deepEqual([reply.status, reply.success], [200, true])
    assert.equal(upstream.received[0]?.headers.accept, 'text/event-stream')
    assert.match((await bytesOf(reply.body)).toString(), /"count":1.*event: complete/s)
  })

  it("comes in parts for a client of Apollo's multipart protocol", async () => {
    const accept =
      'multipart/mixed;boundary="graphql";subscriptionSpec="1.0",application/graphql-response+json,application/json;q=0.9'
    const reply = await adapter.call(plainCall({ query: 'subscription { count }' }, [['accept', accept]]), FOREVER)
    assert.deepEqual([reply.success, reply.rule], [true, 'stream-open'])
    assert.match(String(reply.headers.find(([name]) => name === 'content-type')?.[1]), /boundary="graphql"/)
    assert.match((await bytesOf(reply.body)).toString(), /\{"payload":\{"data":\{"count":1\}\}\}\r\n--graphql--/)
  })

  it('is open, and charged, when the API is silent', async () => {
    upstream.behave((response) => response.writeHead(200, events).flushHeaders())
    const reply = await open()
    assert.equal(reply.success, true)
    await (reply.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
    await eventually('the API hears of it', 5_000, () => upstream.received[0]?.gone === true || undefined)
  })

  const refused: ReadonlyArray<readonly [what: string, status: number, type: string, body: string]> = [
    ['an error', 200, 'text/event-stream', 'event: next\ndata: {"data":null,"errors":[{"message":"no"}]}\n\n'],
    ['nothing at all', 200, 'text/event-stream', 'event: complete\ndata:\n\n'],
    ['a refusal', 403, 'application/json', '{"errors":[{"message":"no"}]}']
  ]
  for (const [what, status, type, body] of refused) {
    it(`is not charged when the API begins with ${what}`, async () => {
      upstream.behave(answering(status, { 'content-type': type }, body))
      const reply = await open()
      assert.deepEqual([reply.status, reply.success], [status, false])
      assert(reply.body instanceof Uint8Array)
    })
  }

  it('is upstream_invalid_response when the API opens no stream', async () => {
    upstream.behave(answering(200, { 'content-type': 'application/json' }, '{"data":{"count":1}}'))
    await rejectsWith(open(), 'upstream_invalid_response')
  })
})

describe('a subscription over a WebSocket', () => {
  let server: YogaServer
  let sent = 0
  let stopped = false
  let asked: IncomingMessage | undefined
  const opened: Adapter[] = []

  before(async () => {
    const schema = new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { hello: { type: GraphQLInt } } }),
      subscription: new GraphQLObjectType({
        name: 'Subscription',
        fields: {
          count: {
            type: GraphQLInt,
            async *subscribe() {
              try {
                for (;;) {
                  yield { count: sent++ }
                  if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
                }
              } finally {
                stopped = true
              }
            }
          }
        }
      })
    })
    const http = createServer((_request, response) => response.writeHead(404).end())
    http.on('upgrade', (request) => (asked = request))
    useServer({ schema }, new WebSocketServer({ server: http, path: '/graphql' }))
    server = await listening(http)
  })
  afterEach(async () => {
    for (const adapter of opened.splice(0)) await adapter.close?.()
  })
  after(() => server.close())

  const opening = (terms: GraphqlTerms, config: Partial<UpstreamConfig> = {}): Promise<AdapterReply> => {
    const adapter = graphqlFactory.open({ endpoint: server.url, graphql: terms, ...config }, '')
    opened.push(adapter)
    return adapter.call(subscription, FOREVER)
  }

  it('is cut off when its reader is too slow, and ends at the API', async () => {
    const { body, success } = await opening({ subscriptions: server.url.replace('http', 'ws') })
    assert.equal(success, true)
    await eventually('the API hears of it', 5_000, () => stopped || undefined)
    assert(sent > GRAPHQL_EVENTS_WAITING_MAX)
    const read: string[] = []
    await rejectsWith(
      (async () => {
        for await (const chunk of body as AsyncIterable<Uint8Array>) read.push(Buffer.from(chunk).toString())
      })(),
      'overloaded'
    )
    // Earlier results are still read, in order.
    const counts = read.flatMap((event) => /"count":(\d+)/.exec(event)?.[1] ?? []).map(Number)
    assert.deepEqual(
      counts,
      Array.from({ length: counts.length }, (_, index) => index)
    )
    assert(counts.length >= GRAPHQL_EVENTS_WAITING_MAX)
  })

  it('sends credentials to its API, but to no other host', async () => {
    const subscriptions = server.url.replace('http', 'ws')
    const auth = { headers: { 'x-api-key': 'k' }, query: { tenant: 't' } }
    const { body } = await opening({ subscriptions }, { auth })
    await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
    assert.deepEqual([asked?.url, asked?.headers['x-api-key']], ['/graphql?tenant=t', 'k'])
    const elsewhere = subscriptions.replace('127.0.0.1', 'localhost')
    const other = await opening({ subscriptions: elsewhere }, { auth })
    await (other.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
    assert.deepEqual([asked?.url, asked?.headers['x-api-key']], ['/graphql', undefined])
  })

  it('opens no guarded address', async () => {
    const guard = { refuses: () => true }
    await rejectsWith(opening({ subscriptions: server.url.replace('http', 'ws') }, { guard }), 'upstream_unreachable')
  })

  it('is upstream_unreachable when no server accepts it', async () => {
    await rejectsWith(opening({ subscriptions: 'ws://127.0.0.1:9/graphql' }), 'upstream_unreachable')
    await rejectsWith(
      opening({ subscriptions: server.url.replace('http', 'ws').replace('graphql', 'no') }),
      'upstream_unreachable'
    )
  })

  it('sends numbers with all digits', async () => {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http })
    const subscribed = Promise.withResolvers<string>()
    sockets.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => {
        if (data.includes('connection_init')) return socket.send('{"type":"connection_ack"}')
        subscribed.resolve(data.toString())
        const { id } = JSON.parse(data.toString()) as { readonly id: string }
        socket.send(JSON.stringify({ id, type: 'complete' }))
      })
    )
    const { url, close } = await listening(http)
    try {
      const adapter = graphqlFactory.open({ endpoint: url, graphql: { subscriptions: url.replace('http', 'ws') } }, '')
      opened.push(adapter)
      const [variables, extensions] = ['{"n":[12345678901234567890,1.10]}', '{"at":9007199254740993}']
      const body = Buffer.from(`{"query":"subscription { count }","variables":${variables},"extensions":${extensions}}`)
      await adapter.call({ ...subscription, body }, FOREVER)
      const message = await subscribed.promise
      assert(message.includes(`"variables":${variables}`) && message.includes(`"extensions":${extensions}`), message)
    } finally {
      for (const socket of sockets.clients) socket.terminate()
      await close()
    }
  })

  const refusing: ReadonlyArray<readonly [what: string, protocol: string, says: RegExp]> = [
    ['speaks an older protocol', 'graphql-ws', /opens no WebSocket of the protocol graphql-transport-ws/],
    ['closes with a code of its own', 'graphql-transport-ws', /with the code 4403\.$/]
  ]
  for (const [what, protocol, says] of refusing) {
    it(`says that an API ${what}`, async () => {
      const http = createServer()
      const sockets = new WebSocketServer({ server: http, handleProtocols: () => protocol })
      sockets.on('connection', (socket) => socket.once('message', () => socket.close(4403, 'secret')))
      const { url, close } = await listening(http)
      try {
        const subscriptions = url.replace('http', 'ws')
        await assert.rejects(opening({ subscriptions }), { code: 'upstream_unreachable', message: says })
        const count = () => new Promise<number>((resolve) => http.getConnections((_, all) => resolve(all)))
        await eventually('the connection is closed', 5_000, async () => (await count()) === 0 || undefined)
      } finally {
        for (const socket of sockets.clients) socket.terminate()
        await close()
      }
    })
  }

  it('leaves no unhandled rejection if it is aborted while connecting', async () => {
    const mute = createTcpServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const { port } = mute.address() as AddressInfo
    for (let ms = 0; ms < 8; ms++) {
      const graphql = { subscriptions: `ws://127.0.0.1:${port}/` }
      const adapter = graphqlFactory.open({ endpoint: server.url, graphql }, '')
      await assert.rejects(adapter.call(subscription, AbortSignal.timeout(ms)), { name: 'SoukError' })
      await adapter.close?.()
    }
    await new Promise((resolve) => mute.close(resolve))
  })

  it('ends with its call', async () => {
    const adapter = graphqlFactory.open({ endpoint: server.url, graphql: { subscriptions: 'ws://127.0.0.1:9/' } }, '')
    opened.push(adapter)
    await rejectsWith(adapter.call(subscription, AbortSignal.abort()), 'call_interrupted')
  })
})
