import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { ErrorCode } from '../../../lib/base/errors.ts'
import type { Adapter } from '../../../lib/interface/adapter.ts'
import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { bytesOf, FOREVER, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

describe('a REST call with its own request', () => {
  let upstream: ScriptedUpstream
  let adapter: Adapter

  beforeEach(async () => {
    upstream = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
    const endpoint = `${upstream.url}/base/v1?key=own`
    adapter = restFactory.open({ endpoint, explicit: true, requestHeaders: ['x-tenant'] }, '')
  })
  afterEach(async () => {
    await adapter.close?.()
    await upstream.close()
  })

  const last = () => upstream.received.at(-1) ?? assert.fail('nothing was received')

  it('is recognised by its method or its path', async () => {
    await adapter.call(plainCall({ path: '/users/7', query: { full: true, tag: ['a', 'b'] } }), FOREVER)
    assert.deepEqual([last().method, last().target], ['GET', '/base/v1/users/7?key=own&full=true&tag=a&tag=b'])
    await adapter.call(plainCall({ method: 'DELETE' }), FOREVER)
    assert.deepEqual([last().method, last().target], ['DELETE', '/base/v1?key=own'])
    await adapter.call(plainCall({ symbol: 'BTC' }), FOREVER)
    assert.deepEqual([last().method, last().body.toString()], ['POST', '{"symbol":"BTC"}'])
  })

  it('is published, so that consumers and agents know its members', async () => {
    const { operations } = await adapter.description
    const { input } = operations[0] ?? assert.fail('no operation')
    assert.deepEqual(Object.keys(input?.['properties'] ?? {}), ['method', 'path', 'query', 'headers', 'body'])
    const { description } = await restFactory.inspect({ endpoint: upstream.url, explicit: true }, FOREVER)
    assert.deepEqual(description.operations, operations)
  })

  it('sends a body with all its digits, and the allowed headers', async () => {
    const body = Buffer.from(
      '{"method":"PUT","path":"/a","body":{"n":12345678901234567890},"headers":{"X-Tenant":"t","Authorization":"x","accept":"text/csv"}}'
    )
    await adapter.call(plainCall(body), FOREVER)
    const { headers } = last()
    assert.equal(last().body.toString(), '{"n":12345678901234567890}')
    assert.deepEqual(
      [headers['content-type'], headers['x-tenant'], headers.authorization, headers.accept],
      ['application/json', 't', undefined, 'text/csv']
    )
  })

  it('sends a text if its type is not JSON', async () => {
    const headers = { 'content-type': 'text/csv' }
    await adapter.call(plainCall({ method: 'POST', path: '/csv', headers, body: 'a;b' }), FOREVER)
    assert.deepEqual([last().headers['content-type'], last().body.toString()], ['text/csv', 'a;b'])
  })

  const refused: ReadonlyArray<readonly [body: unknown, code: ErrorCode]> = [
    [{ method: 'TRACE', path: '/' }, 'method_not_allowed'],
    [{ method: 'get', path: '/' }, 'method_not_allowed'],
    [{ method: 7 }, 'invalid_request'],
    [{ path: 7 }, 'invalid_request'],
    [{ path: 'users' }, 'invalid_request'],
    [{ path: '/users?a=b' }, 'invalid_request'],
    [{ path: '/users', query: [] }, 'invalid_request'],
    [{ path: '/users', query: { key: 'mine' } }, 'invalid_request'],
    [{ path: '/users', headers: { 'x-tenant': 7 } }, 'invalid_request'],
    [{ path: '/users', headers: { 'x-tenant': 'a\r\nb: c' } }, 'invalid_request'],
    [{ path: '/users', body: {} }, 'invalid_request'],
    [{ path: '/users', host: 'evil.example' }, 'invalid_request'],
    [{ path: 'http://evil.example/' }, 'invalid_request'],
    [{ path: '//evil.example/' }, 'invalid_request'],
    [{ path: '/@evil.example/..' }, 'invalid_request'],
    [{ path: '/%2e%2e/admin' }, 'invalid_request'],
    [{ path: '/a%0d%0ahost: evil' }, 'invalid_request']
  ]
  for (const [body, code] of refused) {
    it(`rejects ${JSON.stringify(body)} before the API is called`, async () => {
      await rejectsWith(adapter.call(plainCall(body), FOREVER), code)
      assert.equal(upstream.received.length, 0)
    })
  }

  it('is sent unchanged if the provider does not allow it', async () => {
    const plain = restFactory.open({ endpoint: upstream.url }, '')
    await plain.call(plainCall({ method: 'DELETE', path: '/x' }), FOREVER)
    assert.deepEqual([last().method, last().target], ['POST', '/'])
    await plain.close?.()
  })

  it('never leaves the base path, whatever the body contains', async () => {
    const hostile = ['..', '.', '/', '//', '\\', '@', '%2e', '%2F', '%252e', '?', '#', ';', ':', '\r\n', 'é', '\u0000']
    const piece = fc.oneof({ weight: 2, arbitrary: fc.constantFrom('x', '/y', ';z') }, fc.constantFrom(...hostile))
    const path = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
    const call = fc.record(
      {
        method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom('GET', 'POST') }, fc.constantFrom('CONNECT', 'a b')),
        path: fc.oneof({ weight: 4, arbitrary: path.map((text) => `/${text}`) }, path, fc.webUrl(), fc.string()),
        query: fc.dictionary(
          fc.oneof({ weight: 9, arbitrary: path }, fc.constant('key')),
          fc.oneof(path, fc.array(path))
        ),
        headers: fc.dictionary(fc.constantFrom('host', 'x-tenant', ':authority', 'x-forwarded-host'), path)
      },
      { requiredKeys: ['path'] }
    )
    await fc.assert(
      fc.asyncProperty(call, async (body) => {
        const before = upstream.received.length
        await adapter.call(plainCall(body), FOREVER).then(
          ({ body: answer }) => bytesOf(answer),
          () => undefined
        )
        for (const { target, headers } of upstream.received.slice(before)) {
          assert.equal(`http://${headers.host}`, upstream.url)
          const url = new URL(target, upstream.url)
          assert(url.pathname === '/base/v1' || url.pathname.startsWith('/base/v1/'), target)
          assert.deepEqual(url.searchParams.getAll('key'), ['own'])
        }
      }),
      fuzzRuns(400)
    )
    assert(upstream.received.length > 20, 'too few of them were requests')
  })
})
