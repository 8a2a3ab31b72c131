import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { restFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

describe('HTTP between a consumer and an API', () => {
  let bench: OverlayBench
  let upstream: ScriptedUpstream

  before(async () => {
    bench = await overlayBench()
    upstream = await scriptedUpstream(answering(200, {}, ''))
    const adapter = restFactory.open({ endpoint: `${upstream.url}/v1` }, '')
    await bench.owner.serve({ name: 'shop', price: '0', forwardsPaths: true }, adapter)
  })
  after(async () => {
    await bench.close()
    await upstream.close()
  })

  const send = (path: string, init: RequestInit = {}) => bench.fetch(`${bench.url}/api/demo/api/shop${path}`, init)

  it('keeps conditions, validators and a 304', async () => {
    upstream.behave((response, { headers }) => {
      const etag = '"7"'
      if (headers['if-none-match'] === etag) response.writeHead(304, { etag, vary: 'Accept' }).end()
      else if (headers['if-match'] !== undefined && headers['if-match'] !== etag) response.writeHead(412).end()
      else response.writeHead(200, { etag, 'content-type': 'text/plain' }).end('seven')
    })
    const whole = await send('/items/7')
    assert.deepEqual([whole.status, whole.headers.get('etag'), await whole.text()], [200, '"7"', 'seven'])
    const current = await send('/items/7', { headers: { 'if-none-match': '"7"' } })
    assert.deepEqual(
      [current.status, current.headers.get('etag'), current.headers.get('vary')?.split(',')[0]],
      [304, '"7"', 'Accept']
    )
    assert.equal((await send('/items/7', { method: 'DELETE', headers: { 'if-match': '"6"' } })).status, 412)
  })

  it('keeps preferences, and the condition of a FHIR create', async () => {
    upstream.behave(answering(200, { 'preference-applied': 'return=minimal' }, ''))
    const asked = { prefer: 'return=minimal', 'if-none-exist': 'identifier=a|1' }
    const { headers } = await send('/Patient', { method: 'POST', headers: asked })
    const seen = upstream.received.at(-1)?.headers ?? {}
    assert.deepEqual({ prefer: seen['prefer'], 'if-none-exist': seen['if-none-exist'] }, asked)
    assert.equal(headers.get('preference-applied'), 'return=minimal')
  })

  it('keeps the addresses of long operations, as addresses of the ingress', async () => {
    const names = ['content-location', 'operation-location', 'azure-asyncoperation']
    const job = `${upstream.url}/v1/jobs/1?api-version=2026-01-01`
    upstream.behave(answering(202, Object.fromEntries(names.map((name) => [name, job])), ''))
    const { headers } = await send('/exports', { method: 'POST' })
    const here = `${bench.url}/api/demo/api/shop/jobs/1?api-version=2026-01-01`
    for (const name of names) assert.equal(headers.get(name), here, name)
  })

  it('keeps Location and Link, as absolute addresses of the ingress', async () => {
    const link = `<${upstream.url}/v1/items?page=2>; rel="next", <http://10.0.0.1/>; rel="prev"`
    upstream.behave(answering(201, { location: `${upstream.url}/v1/items/7`, link }, ''))
    const { headers } = await send('/items', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' }
    })
    assert.equal(headers.get('location'), `${bench.url}/api/demo/api/shop/items/7`)
    assert.equal(headers.get('link'), `<${bench.url}/api/demo/api/shop/items?page=2>; rel="next"`)
    upstream.behave(answering(200, {}, 'ok'))
    const followed = await bench.fetch(headers.get('location') ?? '')
    await followed.text()
    assert.equal(upstream.received.at(-1)?.target, '/v1/items/7')
  })

  it('keeps the length of a file, whole or asked about by HEAD', async () => {
    const file = Buffer.alloc(400_000, 'souk')
    upstream.behave((response) => response.writeHead(200, { 'content-length': file.length }).end(file))
    const whole = await send('/a.bin')
    assert.deepEqual(
      [whole.headers.get('content-length'), Buffer.from(await whole.arrayBuffer()).length],
      ['400000', 400_000]
    )
    const head = await send('/a.bin', { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), '400000')
  })

  it('follows a 303 to its own origin by GET', async () => {
    upstream.behave((response, { method, target }) => {
      if (target === '/v1/jobs') response.writeHead(303, { location: '/v1/jobs/1' }).end()
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(`${method} ${target}`)
    })
    const response = await send('/jobs', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' }
    })
    assert.equal(await response.text(), 'GET /v1/jobs/1')
  })

  it('ends at the ingress for OPTIONS and for a WebSocket', async () => {
    upstream.received.length = 0
    const options = await fetch(`${bench.url}/api/demo/api/shop/items`, { method: 'OPTIONS' })
    assert.deepEqual(
      [options.status, options.headers.get('allow')],
      [204, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']
    )
    const { hostname, port } = new URL(bench.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET /api/demo/api/shop HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${bench.key}\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n'
    )
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    assert.match(first.toString(), /^HTTP\/1\.1 426 .*upgrade_required/s)
    assert.equal(upstream.received.length, 0)
  })
})
