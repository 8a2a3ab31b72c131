import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type Http2Stream, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type Upstream, type UpstreamRequest, createUpstream } from '../../../protocols/upstream/upstream.ts'
import { FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import { until } from '../../helpers/scripted-upstream.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'

const MiB = 1024 * 1024
const get: UpstreamRequest = { method: 'GET', headers: [], signal: FOREVER }

describe('an upstream that speaks HTTP/2', () => {
  let server: Http2SecureServer
  let sessions: number
  let streams: Http2Stream[]
  let sent: number
  let upstream: Upstream

  beforeEach(async () => {
    sessions = 0
    sent = 0
    streams = []
    server = createSecureServer(SELF_SIGNED)
    server.on('session', (session) => {
      sessions++
      session.on('error', () => undefined)
    })
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      streams.push(stream)
      stream.on('error', () => undefined)
      void answer(stream, String(headers[':path'])).catch(() => undefined)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    upstream = createUpstream({ endpoint, auth: { bearer: 'secret', tls: { ca: SELF_SIGNED.cert } } })
  })
  afterEach(async () => {
    await upstream.close()
    server.close()
  })

  async function answer(stream: ServerHttp2Stream, path: string): Promise<void> {
    if (path === '/v1/hang') return
    if (path === '/v1/echo') {
      const body = Buffer.concat(await stream.toArray())
      stream.respond({ ':status': 201, 'content-type': 'application/json' })
      stream.end(JSON.stringify({ bytes: body.length }))
      return
    }
    stream.respond({ ':status': 200, 'content-type': 'application/octet-stream' })
    const chunk = Buffer.alloc(64 * 1024)
    while (!stream.destroyed && sent < 64 * MiB) {
      sent += chunk.length
      if (!stream.write(chunk)) await once(stream, 'drain')
    }
    stream.end()
  }

  it('sends many requests on one connection', async () => {
    const echo = async () => {
      const response = await upstream.request({ ...get, method: 'POST', path: '/echo', body: Buffer.from('{}') })
      assert.deepEqual([response.status, response.headers], [201, [['content-type', 'application/json']]])
      return String(await response.bytes(100))
    }
    await echo()
    assert.deepEqual([...new Set(await Promise.all(Array.from({ length: 50 }, echo)))], ['{"bytes":2}'])
    assert(sessions < 5, `${sessions} connections`)
  })

  it('accepts a streamed body', async () => {
    async function* body() {
      for (let i = 0; i < 64; i++) yield Buffer.alloc(32 * 1024)
    }
    const response = await upstream.request({ ...get, method: 'PUT', path: '/echo', body: body() })
    assert.equal(String(await response.bytes(100)), `{"bytes":${2 * MiB}}`)
  })

  it('is paused by a slow reader, and notices when the reader leaves', async () => {
    const response = await upstream.request({ ...get, path: '/large' })
    const chunks = response.body[Symbol.asyncIterator]()
    await chunks.next()
    let before = -1
    await until(() => {
      const isStill = sent === before
      before = sent
      return isStill
    }, 'the API to be held back')
    assert(sent < 16 * MiB, `${sent} bytes were taken for a reader who takes none`)
    await chunks.return?.()
    await until(() => streams[0]?.aborted === true, 'the stream to be reset')
  })

  it('notices an aborted request', async () => {
    const leaving = new AbortController()
    const request = rejectsWith(upstream.request({ ...get, path: '/hang', signal: leaving.signal }), 'call_interrupted')
    await until(() => streams.length === 1, 'the request')
    leaving.abort()
    await request
    await until(() => streams[0]?.aborted === true, 'the stream to be reset')
    const response = await upstream.request({ ...get, method: 'POST', path: '/echo', body: Buffer.from('{}') })
    assert.equal(response.status, 201)
    await response.bytes(100)
  })

  it('gets each cancel only as a reset of its stream: others on the connection continue', async () => {
    const post = { ...get, method: 'POST', body: Buffer.from('{}') }
    await (await upstream.request({ ...post, path: '/echo' })).bytes(100)
    const staying = await upstream.request({ ...get, path: '/large' })
    const chunks = staying.body[Symbol.asyncIterator]()
    await chunks.next()
    const before = sessions
    for (let i = 0; i < 3; i++) {
      const leaving = new AbortController()
      const count = streams.length
      const request = rejectsWith(
        upstream.request({ ...get, path: '/hang', signal: leaving.signal }),
        'call_interrupted'
      )
      await until(() => streams.length > count, 'the request')
      leaving.abort()
      await request
      await until(() => streams.at(-1)?.aborted === true, 'the stream to be reset')
      const left = await upstream.request({ ...get, path: '/large' })
      const some = left.body[Symbol.asyncIterator]()
      await some.next()
      await some.return?.()
      await until(() => streams.at(-1)?.aborted === true, 'the stream of the reader who left to be reset')
    }
    assert.equal((await chunks.next()).done, false, 'the other stream broke')
    assert.equal(sessions, before, 'the connection was given up')
    await chunks.return?.()
  })
})
