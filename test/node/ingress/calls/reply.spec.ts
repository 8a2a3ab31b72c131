import assert from 'node:assert/strict'
import { answer, type Running, startIngress } from '../harness.ts'

describe('ingress: the response', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  it('removes headers reserved for this node, and hop-by-hop headers', async () => {
    ingress.onCall = () =>
      answer({
        headers: [
          ['content-type', 'text/csv'],
          ['etag', '"7"'],
          ['link', '</a>; rel=next'],
          ['link', '</b>; rel=last'],
          ['set-cookie', 'session=1'],
          ['Strict-Transport-Security', 'max-age=1'],
          ['access-control-allow-origin', '*'],
          ['souk-charged', '0'],
          ['x-request-id', 'theirs'],
          ['connection', 'close, X-Hop'],
          ['x-hop', '1'],
          ['X-Accel-Redirect', '/internal/file'],
          ['x-accel-expires', '3600'],
          ['X-Sendfile', '/etc/passwd'],
          ['keep-alive', 'timeout=1'],
          ['transfer-encoding', 'chunked'],
          ['content-length', '3']
        ],
        body: Buffer.from('a,b,c')
      })
    const response = await ingress.post('/api/demo/api/ticker', {})
    const { headers } = response
    assert.equal(await response.text(), 'a,b,c')
    assert.equal(headers.get('content-type'), 'text/csv')
    assert.equal(headers.get('etag'), '"7"')
    const root = `${ingress.url}/api/demo/api/ticker`
    assert.equal(headers.get('link'), `<${root}/a>; rel=next, <${root}/b>; rel=last`)
    assert.equal(headers.get('content-length'), '5')
    assert.equal(headers.get('souk-charged'), '0.001')
    assert.notEqual(headers.get('x-request-id'), 'theirs')
    const own = ['set-cookie', 'strict-transport-security', 'access-control-allow-origin', 'x-hop']
    for (const gone of [...own, 'x-accel-redirect', 'x-accel-expires', 'x-sendfile']) {
      assert.equal(headers.get(gone), null, gone)
    }
    assert.equal(headers.get('connection'), 'keep-alive')
  })

  it('is sandboxed in a browser, whatever its headers', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/json', '']) {
      ingress.onCall = () =>
        answer({
          headers: [
            ['content-type', type],
            ['content-security-policy', "script-src 'unsafe-inline'"],
            ['X-Content-Type-Options', 'sniff']
          ],
          body: Buffer.from('<script>alert(1)</script>')
        })
      const { headers } = await ingress.post('/api/demo/api/ticker', {})
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
    }
  })

  for (const [what, reply] of [
    ['a header that HTTP cannot carry', { headers: [['x-a', 'b\r\nx-c: d']] as const }],
    ['such a header of a free call', { charged: 0n, headers: [['x-a', 'b\r\nx-c: d']] as const }],
    ['an invalid header name', { headers: [['x a', 'b']] as const }],
    ['an invalid HTTP status', { status: 99 }],
    ['an interim status', { status: 101 }]
  ] as const) {
    it(`is not forwarded with ${what}`, async () => {
      ingress.onCall = () => answer(reply)
      const response = await ingress.post('/api/demo/api/ticker', {})
      assert.deepEqual([response.status, response.statusText], [502, 'Bad Gateway'])
      assert.equal(((await response.json()) as { code: string }).code, 'upstream_invalid_response')
    })
  }

  it('has no body if HTTP forbids one, and cancels its stream', async () => {
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304]
    ] as const) {
      let cancelled = false
      const body = {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => {}),
          return: async () => {
            cancelled = true
            return { done: true as const, value: undefined }
          }
        })
      }
      ingress.onCall = () => answer({ status, body })
      const headers = { 'x-consumer-key': ingress.key }
      const response = await fetch(`${ingress.url}/api/demo/api/ticker`, { method, headers })
      assert.equal(response.status, status)
      assert.equal((await response.arrayBuffer()).byteLength, 0)
      assert.ok(cancelled, `${method} ${status}`)
    }
  })

  it('leaves out the longest headers of the API, above what clients accept', async () => {
    const links = '</a>,'.repeat(2_500)
    const headers = [
      ['link', links],
      ['content-type', 'text/csv'],
      ['x-note', 'a'.repeat(9_000)],
      ['etag', `"${'b'.repeat(8_000)}"`]
    ] as const
    ingress.onCall = () => answer({ headers })
    const response = await ingress.post('/api/demo/api/ticker', {})
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/csv')
    assert.equal(response.headers.get('etag')?.length, 8_002)
    assert.equal(response.headers.get('link'), null)
    assert.equal(response.headers.get('x-note'), null)
  })
})
