import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { dump } from 'js-yaml'
import type { ErrorCode } from '../../../lib/base/errors.ts'
import { requestIdBytes } from '../../../lib/base/request-id.ts'
import type { Adapter, Inspection, UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { FOREVER, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { OLD_SHOP, SHOP } from './shop-document.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

describe('an imported OpenAPI document', () => {
  const opened: Adapter[] = []
  let upstream: ScriptedUpstream
  let adapter: Adapter
  let inspection: Inspection

  const inspect = (document: unknown, more: Partial<UpstreamConfig> = {}) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    return restFactory.inspect({ endpoint: `${upstream.url}/v1`, openapi: { text }, ...more }, FOREVER)
  }
  let shop: Inspection | undefined
  const use = async (document: unknown) => {
    inspection = document === SHOP ? (shop ??= await inspect(SHOP)) : await inspect(document)
    adapter = restFactory.open({ endpoint: `${upstream.url}/v1` }, inspection.snapshot)
    opened.push(adapter)
    upstream.received.length = 0
  }
  const call = async (body: unknown, headers: ReadonlyArray<readonly [string, string]> = []) => {
    const reply = await adapter.call(plainCall(body, headers), FOREVER)
    assert.equal(reply.status, 200)
    return last()
  }
  const last = () => upstream.received.at(-1) ?? assert.fail('nothing was received')

  beforeEach(async () => {
    upstream = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
    await use(SHOP)
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close?.()
    await upstream.close()
  })

  it('is published by operation, with warnings about omitted ones', () => {
    const { description, warnings } = inspection
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['listItems', 'createItem', 'getItem', 'replaceItem', 'bulk', 'login', 'upload', 'get_ping']
    )
    assert.match(warnings.join('\n'), /deleteItem is left out: it needs the cookie session/)
    const [list, create] = description.operations
    assert.equal(list?.description, 'Finds items.')
    assert.deepEqual(list?.input?.['properties'] && Object.keys(list.input['properties']), [
      'limit',
      'tag',
      'ids',
      'range',
      'filter',
      'X-Tenant'
    ])
    assert.deepEqual(Object.entries(list?.input?.['properties'] ?? {})[0]?.[1], {
      type: 'integer',
      exclusiveMinimum: 0,
      maximum: 100
    })
    assert.deepEqual(create?.input?.['required'], ['name'])
    assert.deepEqual(Object.keys(list?.output?.['$defs'] ?? {}), ['Item'])
    const replace = description.operations.find(({ name }) => name === 'replaceItem')
    assert.deepEqual(Object.keys(replace?.input?.['properties'] ?? {}), ['path.id', 'query.id', 'body.id', 'note'])
  })

  it('puts each field in its place', async () => {
    const fields = { limit: 5, tag: ['a b', 'c&d'], ids: [1, 2], range: { from: 1, to: 2 }, filter: { x: [1] } }
    const { method, target, headers, body } = await call({ operation: 'listItems', ...fields, 'X-Tenant': 't' })
    assert.equal(method, 'GET')
    assert.equal(
      target,
      '/v1/items?limit=5&tag=a%20b&tag=c%26d&ids=1,2&range%5Bfrom%5D=1&range%5Bto%5D=2&filter=%7B%22x%22%3A%5B1%5D%7D'
    )
    assert.deepEqual([headers['x-tenant'], headers['content-type'], body.length], ['t', undefined, 0])
  })

  it('leaves out a parameter that is null, unless it is required', async () => {
    const { target } = await call({ operation: 'listItems', limit: null, tag: null })
    assert.equal(target, '/v1/items')
    const calls = upstream.received.length
    await rejectsWith(adapter.call(plainCall({ operation: 'getItem', id: null }), FOREVER), 'invalid_request')
    assert.equal(upstream.received.length, calls)
  })

  it('gives an API that requires X-Request-ID the id of the call, unless the call names one', async () => {
    const parameters = [
      { in: 'header', name: 'X-Request-ID', required: true, schema: { type: 'string', format: 'uuid' } }
    ]
    const responses = { 200: { description: 'The accounts.' } }
    const paths = { '/accounts': { get: { operationId: 'accounts', parameters, responses } } }
    await use({ openapi: '3.0.0', info: { title: 'Bank', version: '1' }, paths })
    assert.deepEqual(inspection.warnings, [])
    const [{ input } = {}] = inspection.description.operations
    assert.deepEqual([Object.keys(input?.['properties'] ?? {}), input?.['required']], [['X-Request-ID'], undefined])
    const id = '018f3c5e-7a00-7000-8000-000000000001'
    const idOf = async (fields: object, headers: ReadonlyArray<readonly [string, string]> = []) => {
      const request = plainCall({ operation: 'accounts', ...fields }, headers)
      await adapter.call({ ...request, requestId: requestIdBytes(id) }, FOREVER)
      return last().headers['x-request-id']
    }
    assert.equal(await idOf({}), id)
    const own = '99391c7e-ad88-49ec-a2ad-99ddcb1f7721'
    assert.equal(await idOf({ 'X-Request-ID': own }), own)
    await rejectsWith(idOf({ 'X-Request-ID': 7 }), 'invalid_request')
  })

  it('names no request to an API that does not ask for it', async () => {
    const request = plainCall({ operation: 'getItem', id: 'a' })
    await adapter.call({ ...request, requestId: requestIdBytes('018f3c5e-7a00-7000-8000-000000000001') }, FOREVER)
    assert.equal(last().headers['x-request-id'], undefined)
  })

  it('builds the body from fields that are not parameters, with all digits', async () => {
    const text = '{"operation":"createItem","name":"x","price":12345678901234567890.10,"extra":{"n":1e400}}'
    const { method, target, headers, body } = await call(Buffer.from(text))
    assert.deepEqual([method, target, headers['content-type']], ['POST', '/v1/items', 'application/json'])
    assert.equal(body.toString(), '{"name":"x","price":12345678901234567890.10,"extra":{"n":1e400}}')
  })

  it('requires the place if several places share a name', async () => {
    const fields = { 'path.id': 'p/1', 'query.id': 'q', 'body.id': 7, note: 'n' }
    const { target, body } = await call({ operation: 'replaceItem', ...fields })
    assert.deepEqual([target, body.toString()], ['/v1/items/p%2F1?id=q', '{"id":7,"note":"n"}'])
    await rejectsWith(adapter.call(plainCall({ operation: 'replaceItem', id: 'p' }), FOREVER), 'invalid_request')
    const wrong = (more: Record<string, unknown>) =>
      adapter.call(plainCall({ operation: 'replaceItem', ...fields, ...more }), FOREVER)
    await assert.rejects(wrong({ 'path.id': {} }), /The field "path\.id" must be string/)
    await assert.rejects(wrong({ 'body.id': 'x' }), /The field "body\.id" must be integer/)
  })

  it('accepts a body that is not an object as the field body, or any body as a whole', async () => {
    assert.equal((await call({ operation: 'bulk', body: [1, 2] })).body.toString(), '[1,2]')
    assert.equal((await call({ operation: 'createItem', body: { name: 'x' } })).body.toString(), '{"name":"x"}')
  })

  it('writes forms, and files, which are base64 in the call', async () => {
    const form = await call({ operation: 'login', user: 'a b', roles: ['x', 'y'] })
    assert.equal(form.headers['content-type'], 'application/x-www-form-urlencoded')
    assert.equal(form.body.toString(), 'user=a+b&roles=x&roles=y')
    const file = Buffer.from([0, 255, 13, 10, 45, 45])
    const upload = await call({ operation: 'upload', title: 'ü', file: file.toString('base64') })
    const sent = await new Response(new Uint8Array(upload.body), {
      headers: { 'content-type': upload.headers['content-type'] ?? '' }
    }).formData()
    assert.equal(sent.get('title'), 'ü')
    assert.deepEqual(Buffer.from(await (sent.get('file') as File).arrayBuffer()), file)
  })

  const refused: ReadonlyArray<readonly [body: unknown, code: ErrorCode, text: RegExp]> = [
    [{ operation: 'nothing' }, 'operation_not_found', /"nothing"/],
    [{ limit: 5 }, 'invalid_request', /"operation" must name/],
    [{ operation: 7 }, 'invalid_request', /"operation" must name/],
    [[], 'invalid_request', /JSON object/],
    [{ operation: 'getItem' }, 'invalid_request', /^The call must have the field "id"\.$/],
    [{ operation: 'getItem', id: {} }, 'invalid_request', /^The field "id" must be string/],
    [{ operation: 'getItem', id: 'x', limit: 5 }, 'invalid_request', /no field "limit"/],
    [{ operation: 'getItem', id: '' }, 'invalid_request', /empty/],
    [{ operation: 'getItem', id: '..' }, 'invalid_request', /dots/],
    [{ operation: 'getItem', id: '../../admin' }, 'invalid_request', /dot segments/],
    [{ operation: 'getItem', id: '%2e%2e/x' }, 'invalid_request', /dot segments/],
    [{ operation: 'getItem', id: 'a\r\nb' }, 'invalid_request', /not allowed/],
    [{ operation: 'getItem', id: 'x', 'path.id': 'y' }, 'invalid_request', /twice/],
    [{ operation: 'listItems', limit: 0 }, 'invalid_request', /limit.*> 0/],
    [{ operation: 'listItems', limit: '5.5' }, 'invalid_request', /limit.*integer/],
    [{ operation: 'listItems', tag: [['x']] }, 'invalid_request', /tag/],
    [{ operation: 'listItems', 'X-Tenant': 'a\r\nx: y' }, 'invalid_request', /x-tenant/],
    [{ operation: 'createItem' }, 'invalid_request', /name/],
    [{ operation: 'createItem', name: '' }, 'invalid_request', /name/],
    [{ operation: 'createItem', name: 'x', kind: 'c' }, 'invalid_request', /kind" must be "a" or "b"/],
    [
      { operation: 'createItem', name: 'x', parts: [{ name: 'y', parts: [{}] }] },
      'invalid_request',
      /parts\/0\/parts\/0/
    ],
    [{ operation: 'createItem', name: 'x', body: {} }, 'invalid_request', /not both/],
    [{ operation: 'bulk', body: [] }, 'invalid_request', /body/],
    [{ operation: 'bulk' }, 'invalid_request', /body/],
    [{ operation: 'upload', file: 'not base64!' }, 'invalid_request', /base64/]
  ]
  for (const [body, code, text] of refused) {
    it(`rejects ${JSON.stringify(body)} before the API is called`, async () => {
      await assert.rejects(adapter.call(plainCall(body), FOREVER), (error: Error & { code?: string }) => {
        assert.equal(error.code, code)
        assert.match(error.message, text)
        return true
      })
      assert.equal(upstream.received.length, 0)
    })
  }

  it('is accepted in YAML', async () => {
    await use(dump(SHOP, { noRefs: true }))
    assert.equal((await call({ operation: 'getItem', id: 'x' })).target, '/v1/items/x')
  })

  it('is accepted as 3.1', async () => {
    await use({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      paths: {
        '/x/{a}': {
          post: {
            operationId: 'only',
            parameters: [{ name: 'a', in: 'path', required: true, schema: { type: ['integer', 'string'], const: 7 } }],
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } } },
            responses: { default: { description: 'any' } }
          }
        }
      },
      components: {
        schemas: {
          Tree: {
            type: 'object',
            properties: {
              left: { $ref: '#/components/schemas/Tree', description: 'kept' },
              n: { type: ['null', 'number'] }
            },
            unevaluatedProperties: false
          }
        }
      }
    })
    // An API with one operation needs no name.
    const { target, body } = await call({ a: 7, left: { n: null } })
    assert.deepEqual([target, body.toString()], ['/v1/x/7', '{"left":{"n":null}}'])
    await rejectsWith(adapter.call(plainCall({ a: 7, left: { m: 1 } }), FOREVER), 'invalid_request')
  })

  it('is accepted as 2.0', async () => {
    await use(OLD_SHOP)
    assert.equal(
      (await call({ operation: 'getItem', id: 7, tags: ['a', 'b'], more: ['c', 'd'] })).target,
      '/v1/items/7?tags=a%7Cb&more=c&more=d'
    )
    const item = { name: 'x', next: { name: 'y', note: null } }
    assert.equal((await call({ operation: 'createItem', ...item })).body.toString(), JSON.stringify(item))
    await rejectsWith(
      adapter.call(plainCall({ operation: 'createItem', name: 'x', next: {} }), FOREVER),
      'invalid_request'
    )
    const upload = await call({ operation: 'upload', title: 't', file: 'AAEC' })
    assert.match(upload.headers['content-type'] ?? '', /^multipart\/form-data; boundary=/)
    await rejectsWith(adapter.call(plainCall({ operation: 'upload', file: 'AAEC' }), FOREVER), 'invalid_request')
  })

  it('is fetched by its URL, with credentials only from the API’s own origin', async () => {
    const other = await scriptedUpstream(answering(200, {}, JSON.stringify(SHOP)))
    upstream.behave(answering(200, {}, JSON.stringify(SHOP)))
    const auth = { bearer: 'secret' }
    await inspect('', { auth, openapi: { url: `${upstream.url}/openapi.json` } })
    assert.deepEqual(
      [upstream.received[0]?.target, upstream.received[0]?.headers.authorization],
      ['/openapi.json', 'Bearer secret']
    )
    const { description } = await inspect('', { auth, openapi: { url: `${other.url}/openapi.json` } })
    assert.equal(description.operations.length, 8)
    assert.equal(other.received[0]?.headers.authorization, undefined)
    upstream.behave(answering(404, {}, ''))
    await rejectsWith(inspect('', { openapi: { url: upstream.url } }), 'invalid_request')
    await other.close()
    await assert.rejects(inspect('', { openapi: { url: other.url } }), {
      code: 'upstream_unreachable',
      message: `The server of the OpenAPI document, ${new URL(other.url).host}, refuses connections.`
    })
  })

  const broken: ReadonlyArray<readonly [what: string, document: unknown]> = [
    ['no document', 'hello'],
    ['neither JSON nor YAML', '{"openapi": '],
    ['a list', '- 1\n- 2'],
    ['another version', { openapi: '4.0.0', info: { title: 'x', version: '1' }, paths: {} }],
    ['no info', { openapi: '3.0.0', paths: {} }],
    ['no operations', { openapi: '3.0.0', info: { title: 'x', version: '1' }, paths: {} }],
    [
      'a reference that leads nowhere',
      { ...SHOP, paths: { '/x': { get: { parameters: [{ $ref: '#/components/parameters/No' }], responses: {} } } } }
    ]
  ]
  for (const [what, document] of broken) {
    it(`is rejected with ${what}`, async () => {
      await rejectsWith(inspect(document), 'invalid_request')
    })
  }

  it('names operations of one id apart', async () => {
    const { description, warnings } = await inspect({
      ...SHOP,
      paths: { '/a': SHOP.paths['/items'], '/b': SHOP.paths['/items'] }
    })
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['listItems', 'createItem', 'listItems_2', 'createItem_2']
    )
    assert.match(warnings.join('\n'), /operationId listItems\. The one at \/b is named listItems_2/)
  })

  it('has names of one short line, from the path where an id is none', async () => {
    const ids = ['list\nitems\n', 'list\titems', '\u001b[31mred\u0000', ' ', 'x'.repeat(501)]
    const { get: operation } = SHOP.paths['/items']
    const path = (at: number) => `/${at}/${'long'.repeat(200)}`
    const { description } = await inspect({
      ...SHOP,
      paths: Object.fromEntries(ids.map((operationId, at) => [path(at), { get: { ...operation, operationId } }]))
    })
    const pathName = (at: number) => `get${path(at).replaceAll('/', '_')}`.slice(0, 495)
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['list items', 'list items_2', '[31mred', pathName(3), pathName(4)]
    )
  })

  it('gives at most 200 short warnings', async () => {
    const { get: operation } = SHOP.paths['/items']
    const header = (at: number) => ({ in: 'header', name: `proxy-${at}${'x'.repeat(5_000)}`, schema: {} })
    const parameters = Array.from({ length: 300 }, (_, at) => header(at))
    const { warnings } = await inspect({ ...SHOP, paths: { '/a': { get: { ...operation, parameters } } } })
    assert.ok(warnings.every(({ length }) => length <= 4_096))
    assert.equal(warnings[200], 'There are 100 more warnings.')
  })

  it('is rejected quickly as a bomb of anchors', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`
      )
    await rejectsWith(inspect(`openapi: 3.0.0\n${lines.join('\n')}`), 'invalid_request')
  })

  it('warns if its own base address differs from the endpoint', async () => {
    assert.doesNotMatch(inspection.warnings.join(), /endpoint the right one/)
    const text = JSON.stringify({ ...SHOP, servers: [{ url: '/v2/' }] })
    const { warnings } = await inspect(text)
    assert.match(warnings.join(), /below \/v2\/, but are called below \/v1\//)
    assert.match((await inspect({ ...OLD_SHOP, basePath: '/' })).warnings.join(), /below \/, but/)
  })

  it('lets no call leave the base path, for any fields', async () => {
    const hostile = [
      '..',
      '.',
      '/',
      '//',
      '\\',
      '@',
      '%2e',
      '%2F',
      '%252e',
      '?',
      '#',
      ';',
      ':',
      '\r\n',
      'é',
      '\u0000',
      'x',
      '7'
    ]
    const text = fc.array(fc.constantFrom(...hostile), { maxLength: 4 }).map((pieces) => pieces.join(''))
    const body = fc.record(
      {
        operation: fc.constantFrom('getItem', 'listItems', 'replaceItem', 'createItem'),
        id: text,
        'path.id': text,
        'query.id': text,
        tag: fc.array(text, { maxLength: 3 }),
        range: fc.dictionary(text, text, { maxKeys: 2 }),
        'X-Tenant': text,
        name: text
      },
      { requiredKeys: ['operation'] }
    )
    await fc.assert(
      fc.asyncProperty(body, async (fields) => {
        await adapter.call(plainCall(fields), FOREVER).catch(() => undefined)
        for (const { target, headers } of upstream.received.splice(0)) {
          assert.equal(`http://${headers.host}`, upstream.url)
          assert(new URL(target, upstream.url).pathname.startsWith('/v1/items'), target)
        }
      }),
      fuzzRuns(300)
    )
  })

  it('rejects a snapshot of another version', () => {
    for (const snapshot of ['{', '{}', 'null', '{"version":2}']) {
      assert.throws(() => restFactory.open({ endpoint: upstream.url }, snapshot), { code: 'invalid_request' })
    }
  })
})
