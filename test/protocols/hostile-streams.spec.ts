import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { Fifo } from '../../lib/base/fifo.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { UPSTREAM_TIMEOUT_MS_MAX } from '../../lib/base/limits/call.ts'
import { GRAPHQL_EVENT_BYTES_MAX } from '../../lib/base/limits/graphql.ts'
import type { Adapter } from '../../lib/interface/adapter.ts'
import { graphqlFactory } from '../../protocols/graphql/graphql-factory.ts'
import { outlineIn } from '../../protocols/graphql/graphql-response.ts'
import { incremental } from '../../protocols/graphql/incremental.ts'
import { sseResults } from '../../protocols/graphql/sse-results.ts'
import { collectEvents } from '../../protocols/rest/event-stream.ts'
import { singleEvents } from '../../protocols/rest/single-events.ts'
import { linksBelow } from '../../protocols/upstream/links.ts'
import { createUpstream } from '../../protocols/upstream/upstream.ts'
import { bytesOf, FOREVER, plainCall, rejectsWith } from '../helpers/adapter-bench.ts'
import { scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { assertCpuBelow } from '../helpers/cpu-time.ts'

/** Each quadratic reader of before needed at least four times this. */
const CPU_MS_MAX = 500
const KiB = 1024
const MiB = KiB * KiB

async function* repeated(chunk: string, times: number, ...last: string[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(chunk)
  for (let i = 0; i < times; i++) yield bytes
  for (const one of last) yield Buffer.from(one)
}

async function* joined(...streams: ReadonlyArray<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  for (const stream of streams) yield* stream
}

async function drained(stream: AsyncIterable<unknown> | AsyncIterator<unknown>): Promise<number> {
  const source = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream
  let count = 0
  for (let next = await source.next(); next.done !== true; next = await source.next()) count++
  return count
}

const head = '--b\r\ncontent-type: application/json\r\n\r\n'
const part = async (body: AsyncIterable<Uint8Array>) => {
  const { first, body: rest } = await incremental(body, 'b', () => undefined)
  await drained(rest)
  return first
}

describe('streams of a hostile API are read in linear time:', () => {
  const cases: ReadonlyArray<readonly [what: string, read: () => Promise<unknown>, expected: unknown]> = [
    ['blank lines as events', () => drained(singleEvents(repeated('\n'.repeat(64 * KiB), 1))), 64 * KiB],
    ['many small results in a chunk', () => drained(sseResults(repeated('data:\n\n'.repeat(64 * KiB), 1))), 64 * KiB],
    [
      'one result in small pieces',
      () => drained(sseResults(repeated('x'.repeat(32), MiB / 32 - 1, '\n\ndata: 1\n\n'))),
      1
    ],
    [
      'one collected event in small pieces',
      async () =>
        (await collectEvents(repeated('data: x', 32 * KiB, '\n\n'), { maxEvents: 9, maxMs: 60_000 }, systemClock))
          .complete,
      true
    ],
    [
      'a first part in small pieces',
      () => part(repeated('x'.repeat(128), 4 * 8 * KiB, `\r\n${head}{"data":{}}\r\n--b--`)),
      { hasData: true, hasErrors: false }
    ],
    [
      'a first part that seems to end again and again',
      () => part(joined(repeated(`${head}{"data":{"a":"`, 1), repeated('}'.repeat(64), 32 * KiB, '"}}'))),
      { hasData: true, hasErrors: false }
    ],
    [
      'a first part of many objects',
      () => part(joined(repeated(head, 1), repeated('{}'.repeat(32), 32 * KiB, '\r\n--b--'))),
      { hasData: false, hasErrors: false }
    ],
    [
      'a response of many names',
      async () =>
        outlineIn(
          Buffer.from(`{"data":{${Array.from({ length: 800_000 }, (_, i) => `"${i.toString(36)}":0`).join()}}}`)
        ),
      { hasData: true, hasErrors: false }
    ]
  ]
  for (const [what, read, expected] of cases) {
    it(what, async () => {
      await assertCpuBelow(CPU_MS_MAX, async () => assert.deepEqual(await read(), expected))
    })
  }

  it('holds no event above the limit whose lines have no value', async () => {
    const lines = repeated('data:\n'.repeat(KiB), GRAPHQL_EVENT_BYTES_MAX / KiB + 1, '\n')
    await rejectsWith(sseResults(lines).next(), 'response_too_large')
  })

  it('a response in chunks of one byte', async () => {
    const chunks = '1\r\nx\r\n'.repeat(96 * KiB)
    const server = await scriptedUpstream((response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
    })
    const upstream = createUpstream({ endpoint: server.url })
    try {
      await assertCpuBelow(CPU_MS_MAX, async () => {
        const response = await upstream.request({ method: 'GET', headers: [], signal: FOREVER })
        const body = await response.payload(64 * KiB)
        let bytes = 0
        for await (const chunk of body as AsyncIterable<Uint8Array>) bytes += chunk.length
        assert.equal(bytes, 96 * KiB)
      })
    } finally {
      await upstream.close()
      await server.close()
    }
  })

  it('keeps a response in chunks of one byte in little memory', async () => {
    const count = MiB
    const server = await scriptedUpstream((response) => {
      const { socket } = response
      socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      // The extension of each chunk fills a read buffer, which a view of the chunk keeps.
      socket?.end(`${`1;${'e'.repeat(100)}\r\nx\r\n`.repeat(count)}0\r\n\r\n`)
    })
    const upstream = createUpstream({ endpoint: server.url, timeoutMs: UPSTREAM_TIMEOUT_MS_MAX })
    try {
      const response = await upstream.request({ method: 'GET', headers: [], signal: FOREVER })
      const pieces = await response.pieces(2 * count)
      assert.equal(
        pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
        count
      )
      assert.ok(pieces.length < count / 100, `${pieces.length} pieces`)
      const buffers = new Set(pieces.map(({ buffer }) => buffer))
      const kept = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
      assert.ok(kept < 4 * count, `${kept} bytes`)
    } finally {
      await upstream.close()
      await server.close()
    }
  })

  async function subscribed(event: string, use: (adapter: Adapter) => Promise<unknown>): Promise<void> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => {
        const { type, id } = JSON.parse(data.toString()) as { type: string; id: string }
        if (type === 'connection_init') socket.send('{"type":"connection_ack"}')
        else if (type === 'subscribe') {
          socket.send(`{"id":"${id}","type":"next","payload":{"data":{"a":${event}}}}`)
          socket.send(`{"id":"${id}","type":"complete"}`)
        }
      })
    })
    const { port } = server.address() as AddressInfo
    const adapter = graphqlFactory.open(
      { endpoint: `http://127.0.0.1:${port}/`, graphql: { subscriptions: `ws://127.0.0.1:${port}/` } },
      ''
    )
    try {
      await use(adapter)
    } finally {
      await adapter.close?.()
      for (const client of server.clients) client.terminate()
      server.close()
    }
  }
  const call = plainCall({ query: 'subscription { a }' }, [['accept', 'text/event-stream']])
  const listOf = (item: string, bytes: number) => `[${item}${`,${item}`.repeat(bytes / (item.length + 1) - 1)}]`

  it('reads no event of a WebSocket above the limit', async () => {
    await subscribed(listOf('0', 2 * GRAPHQL_EVENT_BYTES_MAX), (adapter) =>
      assertCpuBelow(CPU_MS_MAX, () => {
        // The response may begin before the event arrives.
        const read = async () => bytesOf((await adapter.call(call, FOREVER)).body)
        return rejectsWith(read(), 'upstream_unreachable')
      })
    )
  })

  it('reads an event of a WebSocket as it is written', async () => {
    const event = listOf('{}', GRAPHQL_EVENT_BYTES_MAX - KiB)
    await subscribed(event, (adapter) =>
      assertCpuBelow(CPU_MS_MAX / 4, async () => {
        const { body } = await adapter.call(call, FOREVER)
        assert.match((await bytesOf(body)).toString(), /"a":\[\{\},.*event: complete/s)
      })
    )
  })

  for (const [what, header] of [
    ['escaped quotes', `<>"${String.raw`<>\"`.repeat(16 * KiB)}`],
    ['open angles', '<'.repeat(64 * KiB)],
    ['targets without an end', '<a'.repeat(32 * KiB)],
    ['quoted strings without an end', '<>"'.repeat(21 * KiB)]
  ] as const) {
    it(`a Link header of ${what}`, () => assertCpuBelow(CPU_MS_MAX / 4, () => linksBelow(header, () => '/')))
  }
})

describe('a queue', () => {
  it('returns its items in their order, also while it grows', () => {
    const queue = new Fifo([0, 1])
    let next = 2
    const taken: Array<number | undefined> = []
    for (let round = 0; round < 3_000; round++) {
      for (let i = 0; i < 3; i++) queue.push(next++)
      taken.push(queue.shift(), queue.shift())
    }
    assert.equal(queue.first(), 6_000)
    assert.deepEqual(
      taken,
      Array.from({ length: 6_000 }, (_, i) => i)
    )
    assert.deepEqual(
      [...queue],
      Array.from({ length: 3_002 }, (_, i) => i + 6_000)
    )
    queue.clear()
    assert.equal(queue.shift(), undefined)
    assert.equal(queue.first(), undefined)
  })
})
