import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { EXTRA_HEADERS_MAX } from '../../../../lib/base/limits/upstream.ts'
import type { Adapter, UpstreamConfig } from '../../../../lib/interface/adapter.ts'
import { openapiTexts } from '../../../../protocols/rest/openapi/openapi-source.ts'
import { restFactory } from '../../../../protocols/rest/rest-factory.ts'
import { FOREVER, plainCall } from '../../../helpers/adapter-bench.ts'
import { answering, type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'
import { zipOf } from '../../../helpers/zip.ts'

type Json = Record<string, unknown>
const responses = { 200: { description: 'ok' } }
const documentOf = (paths: Json, more: Json = {}) =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Files', version: '1', description: 'Keeps files.' },
    paths,
    ...more
  })

describe('the document of a registration', () => {
  let upstream: ScriptedUpstream
  let elsewhere: ScriptedUpstream
  const opened: Adapter[] = []

  beforeEach(async () => {
    upstream = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
    elsewhere = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close?.()
    await Promise.all([upstream.close(), elsewhere.close()])
  })

  const register = async (config: Omit<UpstreamConfig, 'endpoint'>) => {
    const whole = { endpoint: `${upstream.url}/v1`, ...config }
    const inspection = await restFactory.inspect(whole, FOREVER)
    const adapter = restFactory.open(whole, inspection.snapshot)
    opened.push(adapter)
    upstream.received.length = 0
    elsewhere.received.length = 0
    return { ...inspection, call: (body: Json) => adapter.call(plainCall(body), FOREVER) }
  }
  const namesOf = ({ description }: { description: { operations: ReadonlyArray<{ name: string }> } }) =>
    description.operations.map(({ name }) => name)

  it('is described once by what its inspection found, then by its snapshot', async () => {
    const paths = { '/here': { get: { operationId: 'here', responses } } }
    const whole = { endpoint: upstream.url, openapi: { text: documentOf(paths) } }
    const { snapshot, description } = await restFactory.inspect(whole, FOREVER)
    const adapter = restFactory.open(whole, snapshot, description)
    opened.push(adapter)
    assert.equal(await adapter.description, description)
    const again = await adapter.description
    assert.notEqual(again, description)
    assert.deepEqual(again, description)
  })

  it('is refused where its files refer to others without an end', async () => {
    const next = (response: ServerResponse, { target }: { target: string }) => {
      const at = Number(/\d+$/.exec(target)?.[0] ?? 0)
      const reference = { $ref: `/file-${at + 1}` }
      response.end(at === 0 ? documentOf({ '/here': reference }) : JSON.stringify(reference))
    }
    upstream.behave(next)
    const read = async (url: string) => (await fetch(url)).bytes()
    // Each file takes ten seconds.
    const clock = { elapsed: () => upstream.received.length * 10_000 }
    const source = { endpoint: upstream.url, openapi: { url: `${upstream.url}/` } }
    await assert.rejects(openapiTexts(source, read, FOREVER, clock), {
      code: 'description_too_complex',
      message: /more than 120 s/
    })
    assert.ok(upstream.received.length < 20)
  })

  it('has as many headers as it describes, beside those that the provider lists', async () => {
    const names = Array.from({ length: EXTRA_HEADERS_MAX + 1 }, (_, at) => `X-Filter-${at}`)
    const parameters = names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }))
    const text = documentOf({ '/here': { get: { operationId: 'here', parameters, responses } } })
    const { call } = await register({ openapi: { text }, requestHeaders: ['X-Tenant'] })
    await call(Object.fromEntries(names.map((name) => [name, `${name} on`])))
    const sent = upstream.received[0]?.headers
    assert.deepEqual(
      names.map((name) => sent?.[name.toLowerCase()]),
      names.map((name) => `${name} on`)
    )
  })

  it('leaves out operations at origins that the provider did not confirm, and sends the others the credentials', async () => {
    const paths = {
      '/here': { get: { operationId: 'here', responses } },
      '/up': { servers: [{ url: `${elsewhere.url}/files` }], get: { operationId: 'up', responses } },
      '/next': { get: { operationId: 'next', servers: [{ url: '/v2' }], responses } }
    }
    const text = documentOf(paths, { servers: [{ url: `${upstream.url}/v1` }] })
    const auth = { bearer: 'secret-token' }
    const cautious = await register({ auth, openapi: { text } })
    assert.deepEqual(namesOf(cautious), ['here', 'next'])
    assert.match(cautious.warnings.join('\n'), new RegExp(`up is left out: it is served at ${elsewhere.url}; confirm`))
    const confirmed = await register({ auth, openapi: { text }, servers: [elsewhere.url] })
    assert.deepEqual(namesOf(confirmed), ['here', 'up', 'next'])
    for (const operation of ['here', 'up', 'next']) await confirmed.call({ operation })
    assert.deepEqual(
      upstream.received.map(({ target }) => target),
      ['/v1/here', '/v2/next']
    )
    const [received] = elsewhere.received
    assert.deepEqual([received?.target, received?.headers.authorization], ['/files/up', 'Bearer secret-token'])
    await assert.rejects(register({ openapi: { text }, servers: ['https://x.example/path'] }), /is not an origin/)
  })

  it('gets credentials in place of described parameters, and cookies that the listing allows', async () => {
    const parameters = [
      { name: 'api_key', in: 'query', required: true, schema: {} },
      { name: 'sid', in: 'cookie', required: true, schema: {} },
      { name: 'lang', in: 'cookie', required: true, schema: { type: 'string' } }
    ]
    const text = documentOf({ '/a': { get: { operationId: 'a', parameters, responses } } })
    const auth = { query: { api_key: 'k-secret' }, headers: { Cookie: 'sid=s-secret' } }
    await assert.rejects(register({ auth, openapi: { text } }), /needs the cookie lang/)
    const { call, description } = await register({ auth, openapi: { text }, requestCookies: ['lang'] })
    assert.deepEqual(description.operations[0]?.input?.['required'], ['lang'])
    await call({ lang: 'en; sid=x' })
    const [received] = upstream.received
    assert.equal(received?.target, '/v1/a?api_key=k-secret')
    assert.equal(received.headers.cookie, 'sid=s-secret; lang=en%3B%20sid%3Dx')
    await assert.rejects(call({}), /"lang"/)
  })

  const FILES: Record<string, string> = {
    'openapi.yaml': 'openapi: 3.0.3\ninfo: {title: t, version: "1"}\npaths:\n  /pets: {$ref: "paths/pets.yaml"}\n',
    'paths/pets.yaml':
      'post:\n  operationId: make\n  requestBody:\n    required: true\n    content:\n      application/json: {schema: {$ref: "../models.json#/Pet"}}\n  responses: {200: {description: ok}}\n',
    'models.json':
      '{"Pet":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"next":{"$ref":"#/Pet"}}}}'
  }

  const isWhole = async ({ call, ...inspection }: Awaited<ReturnType<typeof register>>) => {
    assert.deepEqual(namesOf(inspection), ['make'])
    await call({ name: 'x', next: { name: 'y' } })
    await assert.rejects(call({ name: 'x', next: {} }), /next/)
  }

  it('is read with its files from its own origin, and from no other', async () => {
    upstream.behave((response, { target }) => {
      const file = FILES[target.replace('/docs/', '')]
      response.writeHead(file === undefined ? 404 : 200).end(file ?? '{}')
    })
    const whole = await register({ openapi: { url: `${upstream.url}/docs/openapi.yaml` } })
    upstream.behave(answering(200, { 'content-type': 'application/json' }, '{}'))
    await isWhole(whole)
    const paths = { '/x': { get: { operationId: 'x', parameters: [{ $ref: `${elsewhere.url}/p.json` }], responses } } }
    upstream.behave(answering(200, {}, documentOf({ ...paths, '/y': { get: { operationId: 'y', responses } } })))
    const { warnings } = await register({ openapi: { url: `${upstream.url}/openapi.json` } })
    assert.match(warnings.join('\n'), /x is left out: its reference .* has no target/)
    assert.equal(elsewhere.accepted, 0)
  })

  it('is read from a zip', async () => {
    const pack = (files: Record<string, string>) =>
      zipOf(Object.entries(files).map(([name, content]) => ({ name, content }))).toString('base64')
    await isWhole(await register({ openapi: { zip: pack(FILES) } }))
    const two = pack({ ...FILES, 'other.yaml': FILES['openapi.yaml'] ?? '' })
    await assert.rejects(register({ openapi: { zip: two } }), /several OpenAPI documents: openapi.yaml, other.yaml/)
    await isWhole(await register({ openapi: { zip: two, entry: 'other.yaml' } }))
    await assert.rejects(register({ openapi: { zip: pack({ 'a.json': '{}' }) } }), /has no OpenAPI document/)
  })

  it('says what it states about the API', async () => {
    const servers = [{ url: 'https://{region}.api.example/v1', variables: { region: { default: 'eu' } } }]
    const text = documentOf({ '/a': { get: { responses } } }, { servers })
    const { about } = await register({ openapi: { text } })
    assert.deepEqual(about, { title: 'Files', description: 'Keeps files.', servers: ['https://eu.api.example/v1'] })
  })

  const UNREADABLE: ReadonlyArray<readonly [what: string, text: string, message: RegExp]> = [
    ['JSON', '{"openapi": "3.0.0",\n "info" {}}', /neither JSON nor YAML. Line 2: /],
    ['YAML', 'openapi: 3.0.0\ninfo:\n  title: a: b\n', /neither JSON nor YAML. Line 3, column 11: /],
    ['size', `{"openapi": "3.0.0", "x": "${'x'.repeat(17_000_000)}"}`, /has 17000029 bytes, and the limit is 16777216/]
  ]
  for (const [what, text, message] of UNREADABLE) {
    it(`is refused with its ${what} problem`, async () => {
      await assert.rejects(register({ openapi: { text } }), message)
    })
  }

  it('may have what YAML and its users allow', async () => {
    const text =
      '\uFEFF# a comment\nopenapi: 3.0.3\ninfo: {\n  title: t,\n  version: !!str 1\n}\nx: &a {responses: {200: {description: ok}}}\n' +
      'paths:\n  /a:\n    get: {\n      "operationId": a, "responses": {}\n    }\n    put:\n      <<: *a\n      operationId: b\n      operationId: c\n'
    assert.deepEqual(namesOf(await register({ openapi: { text } })), ['a', 'c'])
  })
})
