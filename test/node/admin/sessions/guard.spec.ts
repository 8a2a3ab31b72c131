import assert from 'node:assert/strict'
import { request } from 'node:http'
import { ADMIN_BODY_BYTES_MAX } from '../../../../lib/base/limits/admin.ts'
import { type Bench, startBench, TOKEN } from '../harness.ts'

interface Answer {
  readonly status: number
  readonly type: string
  readonly cors: string | undefined
  readonly cookie: string | undefined
  readonly problem: { readonly code?: string; readonly request_id?: string; readonly detail?: string }
}

describe('authentication of the admin API', () => {
  let bench: Bench

  before(async () => {
    bench = await startBench()
  })
  after(() => bench.stop())

  /** Sends any Host and Origin, which fetch does not allow. */
  const send = (method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> =>
    sendTo(`/admin/v1${path}`, method, headers, body)
  function sendTo(path: string, method: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    const { port } = new URL(bench.url)
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            cors: response.headers['access-control-allow-origin'],
            cookie: response.headers['set-cookie']?.[0],
            problem: text === '' ? {} : (JSON.parse(text) as Answer['problem'])
          })
        )
      })
      sent.on('error', reject).end(body)
    })
  }
  const authorization = `Bearer ${TOKEN}`

  it('accepts the whole token only', async () => {
    assert.equal((await send('GET', '/status', { authorization })).status, 200)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer x',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`
    ]) {
      const answer = await send('GET', '/status', wrong === undefined ? {} : { authorization: wrong })
      assert.equal(answer.status, 401, `took ${wrong}`)
      assert.equal(answer.problem.code, 'admin_token_invalid')
      assert.match(answer.type, /^application\/problem\+json/)
      assert.ok(answer.problem.request_id)
    }
  })

  it('requires the token before it reveals whether a route exists', async () => {
    assert.equal((await send('GET', '/nothing', {})).status, 401)
    // Fastify has rules of its own for the body of a QUERY.
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['QUERY', '/nothing'],
      ['QUERY', '/keys']
    ] as const) {
      const answer = await send(method, path, { authorization })
      assert.deepEqual([answer.status, answer.problem.code], [404, 'operation_not_found'], `${method} ${path}`)
    }
  })

  it('requires the token for every spelling of a path', async () => {
    const { port } = new URL(bench.url)
    const json = { 'content-type': 'application/json' }
    for (const root of ['/%61dmin/v1', '/admin/%76%31', '/admin/v1/../v1']) {
      for (const [method, path] of [
        ['POST', '/keys'],
        ['POST', '/setup-codes']
      ] as const) {
        const { status, problem } = await sendTo(root + path, method, json, '{}')
        assert.deepEqual([status, problem.code], [401, 'admin_token_invalid'], `${method} ${root}${path}`)
      }
      // Without an Origin the client is no browser, so a code does not sign it in under any Host.
      const entering = await sendTo(`${root}/session`, 'POST', json, '{"code":"0000-0000"}')
      assert.ok([401, 403].includes(entering.status), `${root}/session: ${entering.status}`)
    }
    assert.equal((await sendTo(`http://127.0.0.1:${port}/admin/v1/status`, 'GET', { authorization })).status, 400)
    assert.deepEqual((await bench.client.request('GET /keys', { query: {} })).keys, [])
  })

  it('accepts only its own Host names, against DNS rebinding', async () => {
    const { port } = new URL(bench.url)
    assert.equal((await send('GET', '/status', { authorization, host: `localhost:${port}` })).status, 200)
    for (const host of [
      `evil.example:${port}`,
      '127.0.0.1',
      'localhost',
      `127.0.0.1:${port}.evil.example`,
      `localhost:${Number(port) + 1}`
    ]) {
      const answer = await send('GET', '/status', { authorization, host })
      assert.equal(answer.status, 403, `took ${host}`)
      assert.equal(answer.problem.code, 'ingress_not_allowed')
    }
  })

  it('refuses requests from pages of other sites, and offers no CORS', async () => {
    const { port } = new URL(bench.url)
    for (const origin of ['https://evil.example', 'null', 'http://localhost:5173', `https://127.0.0.1:${port}`]) {
      const answer = await send('GET', '/status', { authorization, origin })
      assert.equal(answer.status, 403, `took ${origin}`)
      assert.equal(answer.cors, undefined)
    }
    const preflight = await send('OPTIONS', '/apis', {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST'
    })
    assert.equal(preflight.status, 403)
    assert.equal(preflight.cors, undefined)
    assert.equal((await send('GET', '/status', { authorization, origin: bench.url })).status, 200)
  })

  it('accepts a session cookie, and writes with it only from its own pages', async () => {
    const { port } = new URL(bench.url)
    const json = { 'content-type': 'application/json' }
    const { code } = await bench.client.request('POST /setup-codes')
    const entering = JSON.stringify({ code })
    for (const wrong of [{}, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      assert.equal((await send('POST', '/session', { ...json, ...wrong }, entering)).status, 403)
    }
    const entered = await send('POST', '/session', { ...json, origin: bench.url }, entering)
    assert.equal(entered.status, 204)
    assert.match(
      entered.cookie ?? '',
      new RegExp(`^souk_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=\\d+$`)
    )
    const cookie = (entered.cookie ?? '').split(';')[0] ?? ''

    assert.equal((await send('GET', '/status', { cookie: `other=1; ${cookie}` })).status, 200)
    assert.equal((await send('GET', '/status', { cookie: cookie.replace(port, '3000') })).status, 401)
    assert.equal((await send('POST', '/keys', { ...json, cookie }, '{}')).status, 403)
    assert.equal((await send('POST', '/keys', { ...json, cookie, origin: 'https://evil.example' }, '{}')).status, 403)
    assert.equal((await send('DELETE', '/session', { cookie, origin: bench.url })).status, 204)
    assert.equal((await send('GET', '/status', { cookie })).status, 401)
  })

  it('serves the console pages without authentication, but not their data', async () => {
    const page = await fetch(`${bench.url}/keys`)
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/)
    assert.match(await page.text(), /<div id="root"><\/div>/)
    assert.equal((await fetch(`${bench.url}/assets/none.js`)).status, 404)
    assert.equal((await fetch(`${bench.url}/%2e%2e/%2e%2e/package.json`)).status, 404)
  })

  it('accepts JSON only', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const answer = await send('POST', '/keys', { authorization, 'content-type': type }, '{"label":"x"}')
      assert.equal(answer.status, 415, `took ${type}`)
      assert.equal(answer.problem.code, 'unsupported_media_type')
    }
    for (const body of [
      '',
      '{',
      '"text"',
      '[]',
      '{"label":5}',
      '{"label":"x","more":1}',
      '{"__proto__":{"label":"x"}}'
    ]) {
      const answer = await send('POST', '/keys', { authorization, 'content-type': 'application/json' }, body)
      assert.equal(answer.status, 400, `took ${body}`)
      assert.equal(answer.problem.code, 'invalid_request')
    }
    assert.deepEqual((await bench.client.request('GET /keys', { query: {} })).keys, [])
  })

  it('says that a member which could change prototypes is not accepted', async () => {
    for (const body of ['{"__proto__":{"label":"x"}}', '{"label":"x","constructor":{"prototype":{}}}']) {
      const answer = await send('POST', '/keys', { authorization, 'content-type': 'application/json' }, body)
      assert.match(String(answer.problem.detail), /"__proto__" or "constructor.prototype", which are not accepted/)
    }
  })

  it('limits the body of unauthenticated requests to the size of a code', async () => {
    const origin = bench.url
    const large = JSON.stringify({ code: 'x'.repeat(2_000) })
    const answer = await send('POST', '/session', { origin, 'content-type': 'application/json' }, large)
    assert.deepEqual([answer.status, answer.problem.code], [413, 'request_too_large'])
  })

  it('refuses a body larger than any registration', async () => {
    const body = JSON.stringify({ label: 'x'.repeat(ADMIN_BODY_BYTES_MAX) })
    const answer = await send('POST', '/keys', { authorization, 'content-type': 'application/json' }, body)
    assert.equal(answer.status, 413)
    assert.equal(answer.problem.code, 'request_too_large')
  })

  it('hides internal errors from the client, but logs them with the request id', async () => {
    bench.registrations.list = () => {
      throw new Error('secret detail')
    }
    const answer = await send('GET', '/apis', { authorization })
    assert.equal(answer.status, 500)
    assert.equal(answer.problem.code, 'internal_error')
    assert.doesNotMatch(JSON.stringify(answer.problem), /secret detail/)
    assert.match(bench.logged.join('\n'), new RegExp(`${answer.problem.request_id}[^]*secret detail`))
  })
})
