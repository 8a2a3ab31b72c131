import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createHttpServer } from '../../../node/http/http-server.ts'
import { eventually } from '../../helpers/eventually.ts'

const STALL_MS = 200
/** More than the system buffers. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x')

describe('createHttpServer', () => {
  let server: Server
  let client: Socket
  let responses: ServerResponse[]
  let isClosed: boolean

  beforeEach(async () => {
    responses = []
    isClosed = false
    server = createHttpServer({ stallMs: STALL_MS })
    server.on('request', (_request, response) => {
      response.on('close', () => (isClosed = true))
      responses.push(response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => {})
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually('the request', 5_000, () => responses[0])
  })
  afterEach(() => {
    client.destroy()
    server.close()
    server.closeAllConnections()
  })

  it('disconnects a client that stops reading', async () => {
    client.pause()
    responses[0]?.end(LARGE)
    await eventually('the end of the connection', 5_000, () => (isClosed ? true : undefined))
    assert.equal(responses[0]?.writableFinished, false)
  })

  it('keeps a client that waits for a response, and then for more of it', async () => {
    client.resume()
    await pause(3 * STALL_MS)
    responses[0]?.write('an event')
    await pause(3 * STALL_MS)
    assert.equal(isClosed, false)
    responses[0]?.end('the last event')
    await eventually('the end of the response', 5_000, () => (isClosed ? true : undefined))
    assert.equal(responses[0]?.writableFinished, true)
  })

  it('leaves expectations to its handlers, where these want that', async () => {
    const late = createHttpServer({ lateContinue: true })
    const expected: Array<string | undefined> = []
    late.on('request', ({ headers }, response) => {
      expected.push(headers.expect)
      response.end('handled')
    })
    late.listen(0, '127.0.0.1')
    await once(late, 'listening')
    for (const expectation of ['100-continue', 'miracles']) {
      const asking = connect((late.address() as AddressInfo).port, '127.0.0.1')
      asking.write(`GET / HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nConnection: close\r\n\r\n`)
      assert.match((await text(asking)).split('\r\n')[0] ?? '', / 200 /)
    }
    assert.deepEqual(expected, ['100-continue', 'miracles'])
    late.close()
  })
})
