import assert from 'node:assert/strict'
import { SoukError, isSoukError } from '../../../lib/base/errors.ts'
import { PATH_BYTES_MAX, UPSTREAM_TIMEOUT_MS_MAX } from '../../../lib/base/limits/call.ts'
import { UPSTREAM_REDIRECTS_MAX } from '../../../lib/base/limits/upstream.ts'
import { type Upstream, type UpstreamRequest, createUpstream } from '../../../protocols/upstream/upstream.ts'
import { FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import {
  type Behaviour,
  type ScriptedUpstream,
  answering,
  hanging,
  scriptedUpstream,
  until
} from '../../helpers/scripted-upstream.ts'

const MiB = 1024 * 1024
const get: UpstreamRequest = { method: 'GET', headers: [], signal: FOREVER }

describe('createUpstream', () => {
  const opened: Upstream[] = []
  let server: ScriptedUpstream
  let upstream: Upstream

  const open = (endpoint: string): Upstream => {
    const made = createUpstream({ endpoint })
    opened.push(made)
    return made
  }
  const target = async (endpointPath: string, path: string): Promise<string | undefined> => {
    const response = await open(server.url + endpointPath).request({ ...get, path })
    await response.bytes(MiB)
    return server.received.at(-1)?.target
  }

  beforeEach(async () => {
    server = await scriptedUpstream(answering(200, {}, 'ok'))
    upstream = open(server.url)
  })
  afterEach(async () => {
    for (const made of opened.splice(0)) await made.close()
    await server.close()
  })

  describe('endpoint', () => {
    for (const endpoint of [
      '',
      'example.com',
      '//example.com',
      'ftp://example.com/',
      'ws://example.com/',
      'wss://example.com/',
      'data:text/plain,x',
      'http://',
      'http://user@example.com/',
      'http://user:pass@example.com/',
      'http://:pass@example.com/',
      'http://example.com/#part'
    ]) {
      it(`rejects ${endpoint === '' ? 'an empty one' : endpoint}`, () => {
        assert.throws(() => createUpstream({ endpoint }), { code: 'invalid_request' })
      })
    }

    it('says where a user name and a password belong', () => {
      const message = /Give them as `basic` in --auth-file/
      assert.throws(() => createUpstream({ endpoint: 'http://user:pass@example.com/' }), { message })
    })

    it('rejects a time limit above the maximum', () => {
      assert.throws(() => createUpstream({ endpoint: server.url, timeoutMs: UPSTREAM_TIMEOUT_MS_MAX + 1 }), {
        code: 'invalid_request'
      })
    })
  })

  describe('path', () => {
    const joined: ReadonlyArray<readonly [endpoint: string, path: string, target: string]> = [
      ['', '', '/'],
      ['/v1', '', '/v1'],
      ['/v1/', '', '/v1/'],
      ['/v1', '/users/7', '/v1/users/7'],
      ['/v1/', '/users/7', '/v1/users/7'],
      ['/v1', '/', '/v1/'],
      ['/v1', '/users/', '/v1/users/'],
      ['/v1', '?a=b', '/v1?a=b'],
      ['/v1?key=s', '', '/v1?key=s'],
      ['/v1?key=s', '?a=b', '/v1?key=s&a=b'],
      ['/v1?key=s', '/users?a=b', '/v1/users?key=s&a=b'],
      ['', '/@scope/name', '/@scope/name'],
      ['', '/group%2Fproject', '/group%2Fproject'],
      ['', '/sites/https%3A%2F%2Fa.example%2F/pages', '/sites/https%3A%2F%2Fa.example%2F/pages'],
      ['', '/100%25', '/100%25'],
      ['', '/caf%C3%A9;v=1', '/caf%C3%A9;v=1'],
      ['', '/a..b/...', '/a..b/...'],
      ['', '/x?next=//a/../b&line=%0D%0A', '/x?next=//a/../b&line=%0D%0A']
    ]
    for (const [endpoint, path, expected] of joined) {
      it(`combines "${endpoint}" and "${path}" to ${expected}`, async () => {
        assert.equal(await target(endpoint, path), expected)
      })
    }

    const refused = [
      'users',
      '@evil.example/',
      ':80/',
      'http://evil.example/',
      '//evil.example/',
      '/a//b',
      '/%2Fevil.example',
      '/\\evil.example',
      '/%5C%5Cevil.example',
      '/%255Cevil.example',
      '/..',
      '/../admin',
      '/a/./b',
      '/a/../../b',
      '/%2e%2e/admin',
      '/.%2E/admin',
      '/%252e%252e/admin',
      '/%25252e%25252e/admin',
      '/..%2fadmin',
      '/a%2f..%2f..%2fadmin',
      '/https%3A%2F%2F..%2Fadmin',
      '/%252F%252Fevil.example',
      '/..;/admin',
      '/%2e%2e;x=1/admin',
      '/a\r\nHost: evil.example',
      '/a b',
      '/a\tb',
      '/a%0d%0aHost:%20evil.example',
      '/a%00b',
      '/%zz',
      '/%c3%28',
      '/caf\u{e9}',
      '/a#b',
      '?a#b',
      '?a b',
      '?a\r\nb',
      `/${'a'.repeat(PATH_BYTES_MAX)}`
    ]
    for (const path of refused) {
      it(`rejects ${JSON.stringify(path.slice(0, 40))}`, async () => {
        await rejectsWith(upstream.request({ ...get, path }), 'invalid_request')
        assert.equal(server.received.length, 0)
      })
    }

    for (const path of ['?key=other', '?a=1&key=', '/users?%6Bey=other']) {
      it(`rejects ${path}, which repeats a parameter of the endpoint`, async () => {
        await rejectsWith(open(`${server.url}/?key=secret`).request({ ...get, path }), 'invalid_request')
        assert.equal(server.received.length, 0)
      })
    }
  })

  describe('requests', () => {
    for (const method of ['CONNECT', 'TRACE', 'get', 'BREW', '', 'GET / HTTP/1.1\r\nx:']) {
      it(`rejects the method ${JSON.stringify(method)}`, async () => {
        await rejectsWith(upstream.request({ ...get, method }), 'method_not_allowed')
        assert.equal(server.received.length, 0)
      })
    }

    it('sends the allow-listed headers, once each, and its own user agent', async () => {
      const headers = [
        ['content-type', 'application/json'],
        ['content-type', 'text/html'],
        ['accept', 'application/json'],
        ['accept', 'text/event-stream'],
        ['idempotency-key', 'k'],
        ['soapaction', '"a"'],
        ['last-event-id', '7'],
        ['if-none-match', '"x"'],
        ['range', 'bytes=0-1'],
        ['user-agent', 'evil'],
        ['accept-encoding', 'gzip'],
        ['expect', '100-continue'],
        ['upgrade', 'websocket'],
        ['x-own', '1']
      ] as const
      await (await upstream.request({ ...get, method: 'POST', headers, body: Buffer.from('{}') })).bytes(MiB)
      const { host: _host, connection: _connection, ...seen } = server.received[0]?.headers ?? {}
      assert.deepEqual(seen, {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'idempotency-key': 'k',
        'if-none-match': '"x"',
        soapaction: '"a"',
        'last-event-id': '7',
        range: 'bytes=0-1',
        'user-agent': 'souk',
        'accept-encoding': 'identity',
        'content-length': '2'
      })
    })

    it('streams a request body', async () => {
      async function* body() {
        for (let i = 0; i < 32; i++) yield Buffer.alloc(32 * 1024, i)
      }
      await (await upstream.request({ ...get, method: 'PUT', body: body() })).bytes(MiB)
      assert.equal(server.received[0]?.body.length, MiB)
      assert.equal(server.received[0]?.headers['transfer-encoding'], 'chunked')
    })

    it('passes on why a streamed body failed, and tells the upstream', async () => {
      async function* body() {
        yield Buffer.from('{')
        throw new SoukError('owner_unreachable')
      }
      await rejectsWith(upstream.request({ ...get, method: 'POST', body: body() }), 'owner_unreachable')
      assert.equal(server.received.length, 0)
    })

    it('closes a streamed body that it never sent', async () => {
      await server.close()
      let returned = false
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.resolve({ done: false, value: Buffer.from('x') }),
          return: () => {
            returned = true
            return Promise.resolve({ done: true, value: undefined })
          }
        })
      }
      await rejectsWith(upstream.request({ ...get, method: 'POST', body }), 'upstream_unreachable')
      await until(() => returned, 'the body to be returned')
    })
  })

  describe('redirects', () => {
    const away = (status: number, location: string): Behaviour => answering(status, { location }, 'moved')
    /** Redirects until the target is `/end`. */
    const towards =
      (status: number, location: string): Behaviour =>
      (response, received) => {
        if (received.target === '/end') response.end(`${received.method} ${String(received.body)}`)
        else response.writeHead(status, { location }).end()
      }

    for (const status of [301, 302, 303, 307, 308]) {
      it(`follows a ${status} of a GET within its origin`, async () => {
        server.behave(towards(status, '/end'))
        assert.equal((await (await upstream.request(get)).bytes(MiB)).toString(), 'GET ')
      })
    }

    for (const status of [307, 308]) {
      it(`repeats a POST for a ${status}`, async () => {
        server.behave(towards(status, './end'))
        const response = await upstream.request({ ...get, method: 'POST', body: Buffer.from('{}') })
        assert.equal((await response.bytes(MiB)).toString(), 'POST {}')
      })
    }

    it('turns a POST into a GET for a 303', async () => {
      server.behave(towards(303, '/end'))
      const headers = [['content-type', 'application/json']] as const
      const response = await upstream.request({ ...get, method: 'POST', headers, body: Buffer.from('{}') })
      assert.equal((await response.bytes(MiB)).toString(), 'GET ')
      assert.equal(server.received[1]?.headers['content-type'], undefined)
    })

    for (const status of [301, 302]) {
      it(`does not turn a POST into a GET for a ${status}`, async () => {
        server.behave(towards(status, '/end'))
        const request = upstream.request({ ...get, method: 'POST', body: Buffer.from('{}') })
        await rejectsWith(request, 'upstream_invalid_response')
        assert.equal(server.received.length, 1)
      })
    }

    it('does not repeat a streamed body', async () => {
      server.behave(towards(307, '/end'))
      async function* body() {
        yield Buffer.from('{}')
      }
      await rejectsWith(upstream.request({ ...get, method: 'POST', body: body() }), 'upstream_invalid_response')
    })

    for (const location of [
      'http://203.0.113.1/',
      '//203.0.113.1/',
      'https://127.0.0.1/',
      'http://127.0.0.1:1/',
      'file:///etc/passwd',
      'http://'
    ]) {
      it(`does not follow ${location}`, async () => {
        server.behave(away(302, location))
        await assert.rejects(upstream.request(get), (error: unknown) => {
          assert(isSoukError(error))
          assert.equal(error.code, 'upstream_invalid_response')
          assert.equal(error.source, 'upstream')
          assert(!error.message.includes('203.0.113.1'))
          return true
        })
      })
    }

    it('stops after too many redirects', async () => {
      server.behave(away(302, '/again'))
      await rejectsWith(upstream.request(get), 'upstream_invalid_response')
      assert.equal(server.received.length, UPSTREAM_REDIRECTS_MAX + 1)
    })

    it('passes on 304, which is not a redirect', async () => {
      server.behave(answering(304, { etag: '"x"' }, ''))
      assert.equal((await upstream.request(get)).status, 304)
    })
  })

  it('aborts running requests when closed', async () => {
    server.behave(hanging)
    const request = upstream.request(get)
    const ended = rejectsWith(request, 'call_interrupted')
    await until(() => server.received.length === 1, 'the request to arrive')
    await upstream.close()
    await ended
    await until(() => server.open === 0, 'the connection to close')
  })
})
