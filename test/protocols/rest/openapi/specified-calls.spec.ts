import assert from 'node:assert/strict'
import type { Adapter } from '../../../../lib/interface/index.ts'
import { restFactory } from '../../../../protocols/rest/rest-factory.ts'
import { FOREVER, plainCall } from '../../../helpers/adapter-bench.ts'
import { type ScriptedUpstream, answering, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

type Json = Record<string, unknown>

/** What the API must receive: the target, and what is named of headers and body. */
interface Expected {
  readonly target?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
}

interface Case {
  readonly path?: string
  readonly method?: string
  readonly operation: Json
  readonly call: Json
  readonly expected: Expected
}

const parameter = (given: Json, value: unknown, expected: Expected, path?: string): Case => ({
  operation: {
    parameters: [{ name: 'p', schema: {}, ...(given['in'] === 'path' ? { required: true } : {}), ...given }]
  },
  call: { p: value },
  expected,
  ...(path === undefined ? {} : { path })
})
const query = (given: Json, value: unknown, search: string) =>
  parameter({ in: 'query', ...given }, value, { target: search })
const inPath = (given: Json, value: unknown, segment: string) =>
  parameter({ in: 'path', ...given }, value, { target: `/${segment}` }, '/{p}')
const header = (given: Json, value: unknown, text: string | undefined) =>
  parameter({ in: 'header', name: 'X-P', ...given }, value, { headers: { 'x-p': text } })
const cookie = (given: Json, value: unknown, text: string) =>
  parameter({ in: 'cookie', ...given }, value, { headers: { cookie: text } })
const body = (type: string, media: Json, call: Json, sent: string): Case => ({
  method: 'post',
  operation: { requestBody: { required: true, content: { [type]: media } } },
  call,
  expected: { headers: { 'content-type': type }, body: sent }
})
const FORM = 'application/x-www-form-urlencoded'
const form = (encoding: Json, members: Json, sent: string) =>
  body(FORM, { schema: { type: 'object', additionalProperties: true }, encoding }, { body: members }, sent)
const BASE64 = Buffer.from('\u0000\u00ff', 'latin1').toString('base64')
const TEXT = { type: 'string' }

const NOTE = { schema: { type: 'object', properties: { title: TEXT, body: TEXT } } }

/** Written from the text of OpenAPI 3.0.4 and 3.1.1, sections 4.8.12 to 4.8.15, RFC 6570, and Swagger 2.0. */
const CASES: Readonly<Record<string, Case>> = {
  'a list with a comma in an item': query({ explode: false }, ['a,b', 'c'], '?p=a%2Cb,c'),
  'booleans and zero': query({}, [false, 0], '?p=false&p=0'),
  'an empty item': query({}, ['', 'a'], '?p=&p=a'),
  'an object of other members': query(
    { schema: { type: 'object', additionalProperties: TEXT } },
    { a: '1', 'b c': '2' },
    '?a=1&b%20c=2'
  ),
  'an object without members': query({}, {}, ''),
  'an empty value that is allowed': query({ schema: { type: 'integer' }, allowEmptyValue: true }, '', '?p='),
  'a name that ends in brackets': query({ name: 'p[]', schema: { type: 'array' } }, [1, 2], '?p%5B%5D=1&p%5B%5D=2'),
  'pipes and reserved characters': query(
    { style: 'pipeDelimited', allowReserved: true },
    ['a/b', 'c|d'],
    '?p=a/b%7Cc%7Cd'
  ),
  'spaces within items of spaceDelimited': query({ style: 'spaceDelimited' }, ['a b', 'c'], '?p=a%20b%20c'),
  'spaceDelimited, exploded': query({ style: 'spaceDelimited', explode: true }, ['a', 'b'], '?p=a&p=b'),
  'an empty member of deepObject': query({ style: 'deepObject' }, { a: '', b: null }, '?p%5Ba%5D='),
  'an exact number': query({ schema: { type: 'number' } }, 1.5, '?p=1.5'),
  'a time without a zone': query({ schema: { type: 'string', format: 'time' } }, '10:00:00', '?p=10%3A00%3A00'),
  'a moment without a zone': query(
    { schema: { type: 'string', format: 'date-time' } },
    '2026-01-02T10:00:00',
    '?p=2026-01-02T10%3A00%3A00'
  ),
  'a duration with a fraction': query({ schema: { type: 'string', format: 'duration' } }, '-P1DT0.5S', '?p=-P1DT0.5S'),
  'the member "body" of a body': body('application/json', NOTE, { body: 'b' }, '{"body":"b"}'),
  'the member "body" beside others': body(
    'application/json',
    NOTE,
    { body: 'b', title: 't' },
    '{"body":"b","title":"t"}'
  ),
  'a whole body with a member "body"': body(
    'application/json',
    NOTE,
    { body: { title: 't', body: 'b' } },
    '{"title":"t","body":"b"}'
  ),
  'members by a pattern of their names': body(
    'application/json',
    { schema: { type: 'object', patternProperties: { '^x-': { type: 'integer' } }, additionalProperties: false } },
    { 'x-a': 1 },
    '{"x-a":1}'
  ),
  'an emoji': query({}, '😀', '?p=%F0%9F%98%80'),
  'a media type of JSON': query(
    { schema: undefined, content: { 'application/json': { schema: {} } } },
    ['a'],
    '?p=%5B%22a%22%5D'
  ),
  'a slash in a segment': inPath({}, 'a/b', 'a%2Fb'),
  'a list in a segment': inPath({}, ['a', 'b'], 'a,b'),
  'an empty list in a matrix': inPath({ style: 'matrix' }, [], ';p'),
  'a boolean in a label': inPath({ style: 'label' }, true, '.true'),
  'an object in a matrix': inPath({ style: 'matrix' }, { a: 1, b: 2 }, ';p=a,1,b,2'),
  'JSON in a segment': inPath(
    { schema: undefined, content: { 'application/json': { schema: {} } } },
    { a: 1 },
    '%7B%22a%22%3A1%7D'
  ),
  'a list in a header': header({}, ['a', 'b'], 'a,b'),
  'no header for an empty list': header({}, [], undefined),
  'no header for null': header({ schema: { type: ['string', 'null'] } }, null, undefined),
  'an object in a header': header({ explode: true }, { a: 1 }, 'a=1'),
  'a separator in a cookie': cookie({}, 'a;b', 'p=a%3Bb'),
  'a list in a cookie': cookie({ explode: false }, ['a', 'b'], 'p=a,b'),
  'a form with a list of objects': form({}, { a: [{ b: 1 }] }, 'a=%7B%22b%22%3A1%7D'),
  'a form with an exploded object': form(
    { a: { style: 'form', explode: true } },
    { a: { x: 1, y: [2, 3] } },
    'x=1&y=2&y=3'
  ),
  'a form with spaces': form({ a: { style: 'spaceDelimited' } }, { a: ['x', 'y'] }, 'a=x%20y'),
  'a form with explode alone': form({ a: { explode: false } }, { a: ['x', 'y'] }, 'a=x,y'),
  'a text': body('text/plain', { schema: TEXT }, { body: 'hé' }, 'hé'),
  'a JSON text alone': body('application/json', { schema: TEXT }, { body: 'x' }, '"x"'),
  'JSON null': body('application/json', { schema: { type: 'null' } }, { body: null }, 'null'),
  'a JSON merge patch': body(
    'application/merge-patch+json',
    { schema: { type: 'object', properties: { a: {} } } },
    { a: null },
    '{"a":null}'
  ),
  'a binary body without a schema': body('image/png', {}, { body: BASE64 }, '\u0000\u00ff'),
  'a body that is transferred in base64': body(
    'image/png',
    { schema: { ...TEXT, contentEncoding: 'base64' } },
    { body: BASE64 },
    BASE64
  ),
  'a body of format binary': body(
    'application/octet-stream',
    { schema: { ...TEXT, format: 'binary' } },
    { body: BASE64 },
    '\u0000\u00ff'
  ),
  'JSON lines': body('application/jsonl', { schema: { type: 'array', items: {} } }, { body: [1, 'a'] }, '1\n"a"\n'),
  'an XML list as the root': body(
    'application/xml',
    {
      schema: {
        type: 'array',
        xml: { name: 'books', wrapped: true },
        items: {
          type: 'object',
          xml: { name: 'book' },
          properties: { id: { type: 'integer', xml: { attribute: true } } }
        }
      }
    },
    { body: [{ id: 1 }, { id: 2 }] },
    '<?xml version="1.0" encoding="UTF-8"?>\n<books><book id="1"/><book id="2"/></books>'
  ),
  'no readOnly member': body(
    'application/json',
    {
      schema: {
        type: 'object',
        required: ['id', 'a'],
        properties: { id: { type: 'integer', readOnly: true }, a: TEXT }
      }
    },
    { a: 'x' },
    '{"a":"x"}'
  ),
  'several parameters in a segment': {
    path: '/{a}.{b}',
    operation: { parameters: ['a', 'b'].map((name) => ({ name, in: 'path', required: true, schema: {} })) },
    call: { a: 'file', b: 'json' },
    expected: { target: '/file.json' }
  }
}

describe('calls of OpenAPI, as the specification writes them, reach the API with', () => {
  let upstream: ScriptedUpstream
  let adapter: Adapter
  before(async () => {
    upstream = await scriptedUpstream(answering(200, { 'content-type': 'application/json' }, '{}'))
    const paths: Json = {}
    for (const [at, { path = '', method = 'get', operation }] of Object.values(CASES).entries()) {
      const responses = { 200: { description: 'ok' } }
      paths[`/${at}${path}`] = { [method]: { operationId: `op${at}`, responses, ...operation } }
    }
    const text = JSON.stringify({ openapi: '3.1.1', info: { title: 'Cases', version: '1' }, paths })
    const config = { endpoint: upstream.url, openapi: { text }, requestCookies: ['p'] }
    const { snapshot, description } = await restFactory.inspect(config, FOREVER)
    assert.equal(description.operations.length, Object.keys(CASES).length)
    adapter = restFactory.open(config, snapshot)
  })
  after(async () => {
    await adapter?.close?.()
    await upstream?.close()
  })

  for (const [at, [what, { operation, call, expected }]] of Object.entries(CASES).entries()) {
    it(what, async () => {
      const [only] = (operation['parameters'] ?? []) as Array<{ name: string }>
      const named = only !== undefined && 'p' in call ? { [only.name]: call['p'] } : call
      await adapter.call(plainCall({ operation: `op${at}`, ...named }), FOREVER)
      const { target, headers, body: sent } = upstream.received.at(-1) ?? assert.fail('nothing came')
      if (expected.target !== undefined) assert.equal(target, `/${at}${expected.target}`)
      for (const [name, value] of Object.entries(expected.headers ?? {})) assert.equal(headers[name], value)
      if (expected.body !== undefined) {
        const isText = sent.toString('utf8') === expected.body
        assert.ok(isText || sent.toString('latin1') === expected.body, sent.toString())
      }
    })
  }

  it('a part of a form that has its own media type', async () => {
    const schema = {
      type: 'object',
      properties: { image: { type: ['string', 'null'], contentMediaType: 'image/png' }, note: TEXT }
    }
    const content = { 'multipart/form-data': { schema } }
    const operation = { operationId: 'op', requestBody: { content }, responses: { 200: { description: 'ok' } } }
    const text = JSON.stringify({
      openapi: '3.1.1',
      info: { title: 'x', version: '1' },
      paths: { '/': { post: operation } }
    })
    const config = { endpoint: upstream.url, openapi: { text } }
    const files = restFactory.open(config, (await restFactory.inspect(config, FOREVER)).snapshot)
    await files.call(plainCall({ operation: 'op', image: BASE64, note: 'n' }), FOREVER)
    await files.close?.()
    const { headers, body: sent } = upstream.received.at(-1) ?? assert.fail('nothing came')
    const init = { headers: { 'content-type': String(headers['content-type']) } }
    const parts = await new Response(new Uint8Array(sent), init).formData()
    assert.equal((parts.get('image') as File).type, 'image/png')
    assert.equal(Buffer.from(await (parts.get('image') as File).arrayBuffer()).toString('base64'), BASE64)
    assert.equal(parts.get('note'), 'n')
  })
})
