import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { UpstreamAuth } from '../../../lib/interface/adapter.ts'
import {
  type Upstream,
  type UpstreamInit,
  type UpstreamRequest,
  createUpstream
} from '../../../protocols/upstream/upstream.ts'
import { FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { type ScriptedUpstream, answering, scriptedUpstream, until } from '../../helpers/scripted-upstream.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'

const get: UpstreamRequest = { method: 'GET', headers: [], signal: FOREVER }
const SECRET = 's3cr3t-of-the-provider'

describe('the credentials of an upstream', () => {
  const opened: Upstream[] = []
  let server: ScriptedUpstream

  const open = (auth: UpstreamAuth, init: Partial<UpstreamInit> = {}): Upstream => {
    const made = createUpstream({ endpoint: server.url, auth, ...init })
    opened.push(made)
    return made
  }
  const asked = async (upstream: Upstream, request: Partial<UpstreamRequest> = {}) => {
    const response = await upstream.request({ ...get, ...request })
    response.discard()
    return { response, seen: server.received.at(-1) ?? assert.fail('nothing arrived') }
  }

  beforeEach(async () => {
    server = await scriptedUpstream(answering(200, {}, 'ok'))
  })
  afterEach(async () => {
    for (const made of opened.splice(0)) await made.close()
    await server.close()
  })

  it('may be several headers, which no consumer can replace', async () => {
    const upstream = open({ headers: { 'X-Api-Key': SECRET, 'X-Tenant': 't', Accept: 'text/plain' } })
    const { seen } = await asked(upstream, {
      headers: [
        ['x-api-key', 'mine'],
        ['accept', 'text/html']
      ]
    })
    assert.deepEqual(
      [seen.headers['x-api-key'], seen.headers['x-tenant'], seen.headers.accept],
      [SECRET, 't', 'text/plain']
    )
  })

  it('may be a query parameter, which no consumer can replace or repeat', async () => {
    const upstream = open({ query: { api_key: SECRET } }, { endpoint: `${server.url}/v1?v=2` })
    assert.equal((await asked(upstream, { path: '/a?b=1' })).seen.target, `/v1/a?v=2&api_key=${SECRET}&b=1`)
    await rejectsWith(upstream.request({ ...get, path: '?%61pi_key=mine' }), 'invalid_request')
    assert(!upstream.endpoint.href.includes(SECRET))
  })

  it('are sent again after a redirect, but do not appear in its error', async () => {
    server.behave((response, { target }) => {
      if (target.startsWith('/end')) response.end()
      else
        response.writeHead(302, { location: target.startsWith('/away') ? `http://203.0.113.1${target}` : '/end' }).end()
    })
    const upstream = open({ query: { key: SECRET } })
    assert.equal((await asked(upstream, { path: '/begin' })).seen.target, `/end?key=${SECRET}`)
    await assert.rejects(upstream.request({ ...get, path: '/away' }), (error: Error) => {
      assert(!`${error.message} ${String(error.cause)} ${JSON.stringify(error.cause)}`.includes(SECRET))
      return true
    })
  })

  it('may be basic authentication, in UTF-8', async () => {
    const { seen } = await asked(open({ basic: { username: 'zoë', password: `${SECRET}:x` } }))
    assert.equal(seen.headers.authorization, `Basic ${Buffer.from(`zoë:${SECRET}:x`).toString('base64')}`)
  })

  it('may be a bearer token', async () => {
    assert.equal((await asked(open({ bearer: SECRET }))).seen.headers.authorization, `Bearer ${SECRET}`)
  })

  it('never come back in a header', async () => {
    server.behave(answering(200, { etag: `"${SECRET}"`, link: `</next?key=${SECRET}>; rel="next"`, allow: 'GET' }, ''))
    const { response } = await asked(open({ bearer: SECRET }))
    assert.deepEqual(response.headers, [['allow', 'GET']])
  })

  const refused: ReadonlyArray<readonly [what: string, auth: UpstreamAuth]> = [
    ['two schemes', { bearer: SECRET, basic: { username: 'u', password: SECRET } }],
    ['a scheme and a header that says another', { bearer: SECRET, headers: { Authorization: SECRET } }],
    ['a header of the framing', { headers: { 'Transfer-Encoding': SECRET } }],
    ['a host', { headers: { Host: SECRET } }],
    ['a header with a line break', { headers: { 'x-key': `${SECRET}\r\nx: y` } }],
    ['a header without a name', { headers: { '': SECRET } }],
    ['a token with a line break', { bearer: `${SECRET}\n` }],
    ['a user name with a colon', { basic: { username: 'a:b', password: SECRET } }],
    ['a client certificate without TLS', { tls: { cert: SELF_SIGNED.cert, key: SELF_SIGNED.key } }],
    ['a token server that is no HTTP', { oauth2: { tokenUrl: 'ftp://x/', clientId: 'c', clientSecret: SECRET } }]
  ]
  for (const [what, auth] of refused) {
    it(`rejects ${what}, without repeating the secret`, () => {
      assert.throws(
        () => open(auth),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'invalid_request')
          assert(!`${error.message}${String(error.cause)}`.includes(SECRET))
          return true
        }
      )
    })
  }

  it('rejects an invalid key', () => {
    const tls = { cert: SELF_SIGNED.cert, key: SECRET }
    assert.throws(() => open({ tls }, { endpoint: 'https://127.0.0.1/' }), { code: 'invalid_request' })
    assert.throws(() => open({ tls: { cert: SELF_SIGNED.cert } }, { endpoint: 'https://127.0.0.1/' }), {
      code: 'invalid_request'
    })
  })

  it('may be a client certificate, with the provider’s own authority', async () => {
    const seen: string[] = []
    const tlsServer = createServer({ ...SELF_SIGNED, ca: SELF_SIGNED.cert, requestCert: true }, (request, response) => {
      const socket = request.socket as TLSSocket
      seen.push(`${socket.authorized} ${String(socket.getPeerCertificate().subject?.CN)}`)
      response.end('ok')
    })
    await new Promise<void>((resolve) => tlsServer.listen(0, '127.0.0.1', resolve))
    const endpoint = `https://127.0.0.1:${(tlsServer.address() as AddressInfo).port}`
    try {
      const upstream = open({ tls: { ...SELF_SIGNED, ca: SELF_SIGNED.cert } }, { endpoint })
      await (await upstream.request(get)).bytes(100)
      assert.deepEqual(seen, ['true localhost'])
      await rejectsWith(open({}, { endpoint }).request(get), 'upstream_unreachable')
    } finally {
      tlsServer.closeAllConnections()
      tlsServer.close()
    }
  })

  describe('by OAuth 2.0 client credentials', () => {
    let issuer: ScriptedUpstream
    let clock: ManualClock
    let issued: number
    let life: unknown

    beforeEach(async () => {
      issued = 0
      life = 3_600
      clock = manualClock()
      issuer = await scriptedUpstream((response) => {
        const body = JSON.stringify({ access_token: `token-${++issued}`, token_type: 'bearer', expires_in: life })
        response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      })
    })
    afterEach(() => issuer.close())

    const oauth = (more: object = {}) =>
      open({ oauth2: { tokenUrl: `${issuer.url}/token`, clientId: 'id +', clientSecret: SECRET, ...more } }, { clock })

    it('fetches one token for concurrent requests, and caches it', async () => {
      const upstream = oauth({ scope: 'read write', audience: 'api' })
      const many = await Promise.all(Array.from({ length: 20 }, () => asked(upstream)))
      for (const { seen } of many) assert.equal(seen.headers.authorization, 'Bearer token-1')
      await asked(upstream)
      assert.equal(issuer.received.length, 1)
      const [{ method, headers, body } = assert.fail()] = issuer.received
      assert.equal(method, 'POST')
      assert.equal(body.toString(), 'grant_type=client_credentials&scope=read+write&audience=api')
      assert.equal(headers.authorization, `Basic ${Buffer.from(`id+%2B:${SECRET}`).toString('base64')}`)
    })

    it('sends the client id in the body if the server requires it', async () => {
      await asked(oauth({ sendAs: 'body' }))
      const form = new URLSearchParams(issuer.received[0]?.body.toString())
      assert.deepEqual([form.get('client_id'), form.get('client_secret')], ['id +', SECRET])
      assert.equal(issuer.received[0]?.headers.authorization, undefined)
    })

    it('renews the token before it expires, without a wait', async () => {
      const upstream = oauth()
      await asked(upstream)
      await clock.advance(3_545_000)
      assert.equal((await asked(upstream)).seen.headers.authorization, 'Bearer token-1')
      await until(() => issued === 2, 'the renewal')
      await until(() => issuer.open > 0, 'the response')
      for (let i = 0; i < 50 && (await asked(upstream)).seen.headers.authorization !== 'Bearer token-2'; i++);
      assert.equal(server.received.at(-1)?.headers.authorization, 'Bearer token-2')
      assert.equal(issued, 2)
    })

    it('waits for a new token after the old one has expired', async () => {
      const upstream = oauth()
      await asked(upstream)
      await clock.advance(3_600_001)
      assert.equal((await asked(upstream)).seen.headers.authorization, 'Bearer token-2')
    })

    it('fetches another token once if the API rejects it', async () => {
      server.behave((response, { headers }) => {
        response.writeHead(headers.authorization === 'Bearer token-2' ? 200 : 401).end()
      })
      const upstream = oauth()
      assert.equal((await asked(upstream)).response.status, 200)
      server.behave(answering(401, {}, ''))
      assert.equal((await asked(upstream)).response.status, 401)
      assert.equal(issued, 3)
    })

    for (const [what, status, body] of [
      ['an error that repeats the secret', 400, `{"error":"${SECRET}"}`],
      ['no JSON', 200, SECRET],
      ['no token', 200, '{}'],
      ['another kind of token', 200, '{"access_token":"x","token_type":"mac"}'],
      ['a token with a line break', 200, '{"access_token":"x\\r\\ny: z"}']
    ] as const) {
      it(`fails without revealing anything if the server returns ${what}`, async () => {
        issuer.behave(answering(status, {}, body))
        await assert.rejects(oauth().request(get), (error: Error & { code?: string }) => {
          assert.equal(error.code, 'upstream_invalid_response')
          assert(!`${error.message}${String(error.cause)}`.includes(SECRET))
          return true
        })
        assert.equal(server.received.length, 0)
      })
    }

    it('releases a caller that aborts, and the next one gets the token', async () => {
      let answer: (() => void) | undefined
      issuer.behave((response) => {
        answer = () => response.end('{"access_token":"late"}')
      })
      const upstream = oauth()
      const leaving = new AbortController()
      const first = rejectsWith(upstream.request({ ...get, signal: leaving.signal }), 'call_interrupted')
      await until(() => answer !== undefined, 'the request for a token')
      leaving.abort()
      await first
      const second = asked(upstream)
      answer?.()
      assert.equal((await second).seen.headers.authorization, 'Bearer late')
      assert.equal(issuer.received.length, 1)
    })
  })
})
