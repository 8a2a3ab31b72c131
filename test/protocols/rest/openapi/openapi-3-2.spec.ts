import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const VERSION = '3.2.0'
const responses = { 200: { description: 'ok' } }
const described = (operation: Json, more: Json = {}, version = VERSION) => documentOf(operation, '/x', version, more)

describe('a document of OpenAPI 3.2', () => {
  it('is valid by its own specification', () => {
    assert.deepEqual(callsOf(described({})).warnings, [])
    assert.match(
      callsOf(described({ parameters: [{ in: 'query' }] })).warnings.join('\n'),
      /violates.*parameters\/0 must have/
    )
  })

  it('has operations of methods that are never forwarded, each left out with a line', () => {
    const { paths, ...document } = described({})
    const item = {
      ...(paths as { '/x': Json })['/x'],
      query: { operationId: 'find', responses },
      additionalOperations: { COPY: { operationId: 'copy', responses }, PUT: { operationId: 'put', responses } }
    }
    const { warnings, description } = callsOf({ ...document, paths: { '/x': item } })
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['op']
    )
    const lines = warnings.join('\n')
    assert.match(lines, /find is left out: QUERY is never forwarded/)
    assert.match(lines, /copy is left out: COPY is never forwarded/)
    assert.match(lines, /put is left out: additionalOperations cannot have the method PUT; describe it as "put"/)
  })

  const wholeQuery = (type: string, more: Json = {}) => {
    const properties = { tag: { type: 'array', items: { type: 'string' } }, size: { type: 'integer' } }
    const content = { [type]: { schema: { type: 'object', properties, required: ['size'] } } }
    return callsOf(described({ parameters: [{ name: 'all', in: 'querystring', content, ...more }] }))
  }

  it('has a parameter for the whole query string, which is an object', async () => {
    const { map, warnings } = wholeQuery('application/x-www-form-urlencoded', { required: true })
    assert.deepEqual(warnings, [])
    assert.equal((await map({ all: { tag: ['a b', 'c'], size: 5 } })).path, '/x?tag=a%20b&tag=c&size=5')
    await assert.rejects(map({ all: { tag: [] } }), /"all" must have the field "size"/)
    await assert.rejects(map({}), /must have the field "all"/)
  })

  it('has a whole query string of another type, which is left out with a line', () => {
    const { warnings, description } = wholeQuery('application/json')
    assert.match(warnings.join('\n'), /The parameter all of op is left out: it is a whole query string/)
    assert.deepEqual(description.operations[0]?.input?.['properties'], {})
    assert.throws(
      () => wholeQuery('application/json', { required: true }),
      /op is left out: its parameter all is a whole query string/
    )
  })

  it('has cookies without percent-encoding', async () => {
    const cookie = (value: unknown, more: Json = {}, version = VERSION) =>
      callsOf(
        described({ parameters: [{ name: 'c', in: 'cookie', style: 'cookie', schema: {}, ...more }] }, {}, version),
        { cookies: ['c'] }
      ).map({ c: value })
    assert.deepEqual((await cookie('a/b=%')).cookies, ['c=a/b=%'])
    assert.deepEqual((await cookie(['a', 'b'])).cookies, ['c=a', 'c=b'])
    assert.deepEqual((await cookie(['a', 'b'], { explode: false })).cookies, ['c=a,b'])
    for (const bad of ['a;b', 'a b', 'a\r\n', 'é', '"']) {
      await assert.rejects(cookie(bad), { code: 'invalid_request', message: /"c" has a character that a cookie/ })
    }
  })

  it('has media types by reference', async () => {
    const $ref = '#/components/mediaTypes/M'
    const schema = {
      type: 'object',
      required: ['z'],
      properties: { z: { type: 'integer' } },
      additionalProperties: false
    }
    const content = { 'application/json': { $ref } }
    const requestBody = { required: true, content }
    const operation = {
      requestBody,
      parameters: [{ name: 'p', in: 'query', content }],
      responses: { 200: { description: 'ok', content } }
    }
    const { map, warnings, description } = callsOf(
      described(operation, { components: { mediaTypes: { M: { schema } } } })
    )
    assert.deepEqual(warnings, [])
    const [op] = description.operations
    assert.deepEqual(op?.output, schema)
    assert.deepEqual(op?.input?.['properties'], { p: schema, z: { type: 'integer' } })
    const { body } = await map({ z: 1 })
    assert.equal(Buffer.from(body?.bytes ?? []).toString(), '{"z":1}')
    await assert.rejects(map({}), /must have the field "z"/)
    assert.throws(() => callsOf(described(operation)), /op is left out: its reference "#\/components\/mediaTypes\/M"/)
  })
})
