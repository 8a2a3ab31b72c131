import assert from 'node:assert/strict'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { checkManifest } from '../../../../lib/resolve/manifest/check-manifest.ts'
import { restFactory } from '../../../../protocols/index.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

const NEVER = new AbortController().signal
const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  paths: { '/ping': { get: { operationId: 'ping', responses: { 200: { description: '' } } } } }
})

describe('headers that a provider allows', () => {
  let bench: OverlayBench
  let upstream: ScriptedUpstream

  before(async () => {
    bench = await overlayBench()
    upstream = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
    const config = { endpoint: upstream.url, requestHeaders: ['X-Tenant'] }
    const described = { ...config, openapi: { text: DOCUMENT } }
    const { snapshot } = await restFactory.inspect(described, NEVER)
    await bench.owner.serve({ name: 'plain', price: '0' }, restFactory.open(config, ''))
    await bench.owner.serve({ name: 'described', price: '0' }, restFactory.open(described, snapshot))
    await bench.owner.serve({ name: 'closed', price: '0' }, restFactory.open({ endpoint: upstream.url }, ''))
  })
  after(async () => {
    await bench.close()
    await upstream.close()
  })

  const call = async (name: string, body: unknown) => {
    upstream.received.length = 0
    const response = await bench.fetch(`${bench.url}/api/demo/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant': 'acme', cookie: 'a=b', 'x-other': 'c' },
      body: JSON.stringify(body)
    })
    assert.equal(response.status, 200, await response.text())
    const { headers } = upstream.received.at(-1) ?? assert.fail('nothing was received')
    assert.deepEqual([headers.cookie, headers['x-other'], headers['x-consumer-key']], [undefined, undefined, undefined])
    return headers['x-tenant']
  }

  it('are forwarded with plain calls and OpenAPI calls; others are not', async () => {
    assert.equal(await call('plain', { a: 1 }), 'acme')
    assert.equal(await call('described', { operation: 'ping' }), 'acme')
    assert.equal(await call('closed', { a: 1 }), undefined)
  })

  it('never include headers that identify a consumer, even if a manifest lists them', () => {
    for (const name of ['authorization', 'cookie', 'x-consumer-key', 'payment-signature', 'X-Upper\n']) {
      const manifest = manifestOf(peerId('P'), { api: { operations: [], requestHeaders: [name] } })
      assert.throws(() => checkManifest(manifest), { code: 'invalid_request' }, name)
    }
  })
})
