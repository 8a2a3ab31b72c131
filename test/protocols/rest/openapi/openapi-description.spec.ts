import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { OPENAPI_EXAMPLE_CHARS_MAX } from '../../../../lib/base/limits/rest.ts'
import { completeOperations } from '../../../../lib/describe/complete.ts'
import { importOpenapi } from '../../../../protocols/rest/openapi/openapi-import.ts'
import { callsOf, documentOf } from './document-kit.ts'

/** Large enough that operations share definitions. */
const PADDING = 'x'.repeat(1_000)

function described() {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const item = {
    type: 'object',
    required: ['id', 'secret', 'name'],
    properties: {
      id: { type: 'string', readOnly: true },
      secret: { type: 'string', writeOnly: true },
      name: ref('Name'),
      items: { type: 'array', items: ref('Item') }
    }
  }
  const operation = (name: string) => ({
    operationId: name,
    description: PADDING,
    requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { box: ref('Box') } } } } },
    responses: { 200: { description: 'ok', content: { 'application/json': { schema: ref('Box') } } } }
  })
  const paths = Array.from({ length: 30 }, (_, at) => [`/boxes/${at}`, { post: operation(`op${at}`) }])
  const schemas = {
    Item: item,
    Box: { type: 'object', properties: { item: ref('Item') } },
    Name: { type: 'string', description: PADDING },
    'Box.response': { type: 'integer' },
    Other: ref('Box.response')
  }
  const info = { title: 'Boxes', version: '1' }
  const text = JSON.stringify({ openapi: '3.0.3', info, paths: Object.fromEntries(paths), components: { schemas } })
  return importOpenapi({ text, endpoint: 'http://127.0.0.1/' }).description
}

describe('the description of a large OpenAPI document', () => {
  it('shares types among operations, twice only where requests and responses differ', () => {
    const { operations, definitions = {} } = described()
    assert.equal(operations.length, 30)
    assert.deepEqual(Object.keys(definitions).sort(), ['Box', 'Box.response', 'Item', 'Item.response', 'Name'])
    assert.ok(JSON.stringify(definitions).length < 3_000)
  })

  it('requires no read-only member of a request, and no write-only one of a response', () => {
    const [first] = completeOperations(described(), 1_000_000)
    const check = (schema: object | undefined) => new Ajv2020({ strict: false }).compile(schema ?? {})
    const takes = check(first?.input)
    assert.ok(takes({ box: { item: { secret: 's', name: 'n', items: [{ secret: 's', name: 'n' }] } } }))
    assert.ok(!takes({ box: { item: { id: 'i', name: 'n' } } }))
    const gives = check(first?.output)
    assert.ok(gives({ item: { id: 'i', name: 'n', items: [{ id: 'i', name: 'n' }] } }))
    assert.ok(!gives({ item: { secret: 's', name: 'n' } }))
  })
})

describe('texts and examples of an OpenAPI document', () => {
  const inputOf = (document: object) => {
    const text = JSON.stringify({ info: { title: 'x', version: '1' }, ...document })
    const [operation] = importOpenapi({ text, endpoint: 'http://127.0.0.1/' }).description.operations
    return operation?.input?.['properties']
  }
  const paths = (operation: object) => ({ '/a': { post: { responses: { 200: { description: 'ok' } }, ...operation } } })
  const long = 'x'.repeat(OPENAPI_EXAMPLE_CHARS_MAX + 1)

  it('of parameters are published where the schema has none of its own', () => {
    const town = { name: 'town', in: 'query', description: 'Its name', example: 'Oslo', schema: { type: 'string' } }
    const parameters = [
      town,
      { name: 'named', in: 'query', examples: { one: { value: 7 } }, schema: { type: 'integer' }, deprecated: true },
      { ...town, name: 'own', schema: { type: 'string', description: 'Own', example: 'Bergen' } },
      { ...town, name: 'shared', schema: { $ref: '#/components/schemas/Town' } },
      { name: 'json', in: 'query', content: { 'application/json': { example: { a: [1] }, schema: {} } } },
      { name: 'long', in: 'query', example: long, schema: { type: 'string' } }
    ]
    const components = { schemas: { Town: { type: 'string', minLength: 1 } } }
    assert.deepEqual(inputOf({ openapi: '3.0.3', paths: paths({ parameters }), components }), {
      town: { description: 'Its name', type: 'string', examples: ['Oslo'] },
      named: { deprecated: true, type: 'integer', examples: [7] },
      own: { description: 'Own', type: 'string', examples: ['Bergen'] },
      shared: { description: 'Its name', $ref: '#/$defs/Town', examples: ['Oslo'] },
      json: { examples: [{ a: [1] }] },
      long: { type: 'string' }
    })
  })

  it('of 3.1 and 2.0 are published too', () => {
    const schema = { type: 'string', examples: ['a', 'b'] }
    const parameters = [{ name: 'n', in: 'query', schema }]
    assert.deepEqual(inputOf({ openapi: '3.1.0', paths: paths({ parameters }) }), {
      n: { type: 'string', examples: ['a'] }
    })
    const old = [{ name: 'n', in: 'query', type: 'string', description: 'N', 'x-example': 'c' }]
    assert.deepEqual(inputOf({ swagger: '2.0', paths: paths({ parameters: old }) }), {
      n: { type: 'string', description: 'N', examples: ['c'] }
    })
  })

  it('shows that a body without a schema is a file, unless its type has another form', () => {
    const shown = (type: string) =>
      inputOf({ openapi: '3.1.0', paths: paths({ requestBody: { content: { [type]: {} } } }) })
    for (const type of ['image/png', 'application/octet-stream', 'image/*'])
      assert.deepEqual(shown(type), { body: { type: 'string', format: 'binary' } })
    for (const type of ['application/json', 'text/csv', 'application/xml', 'application/x-ndjson', '*/*'])
      assert.deepEqual(shown(type), { body: {} })
  })

  it('of a body are those of its members', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: {} }, c: {} } }
    const content = { 'application/json': { schema, examples: { first: { value: { a: 'x', b: [1, 2], c: long } } } } }
    assert.deepEqual(inputOf({ openapi: '3.0.3', paths: paths({ requestBody: { content } }) }), {
      a: { type: 'string', examples: ['x'] },
      b: { type: 'array', items: {}, examples: [[1, 2]] },
      c: {}
    })
  })

  it('may be references, JSON texts, and those of a body’s schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const components = {
      examples: { One: { value: { a: 'x' } }, Town: { value: 'Oslo' } },
      schemas: { Whole: { ...schema, example: { a: 'x' } } }
    }
    const shown = { a: { type: 'string', examples: ['x'] } }
    for (const media of [
      { schema, examples: { first: { $ref: '#/components/examples/One' } } },
      { schema, example: ' {"a": "x"}' },
      { schema: { $ref: '#/components/schemas/Whole' } },
      { schema: components.schemas.Whole, examples: { first: { $ref: '#/components/examples/Lost' } } }
    ]) {
      const requestBody = { content: { 'application/json': media } }
      assert.deepEqual(inputOf({ openapi: '3.0.3', components, paths: paths({ requestBody }) }), shown)
    }
    for (const example of ['{"a": "x"', '["x"]', `{"a": "x"${' '.repeat(20_000)}}`]) {
      const requestBody = { content: { 'application/json': { schema, example } } }
      assert.deepEqual(inputOf({ openapi: '3.0.3', paths: paths({ requestBody }) }), { a: { type: 'string' } })
    }
    const old = [{ in: 'body', name: 'b', schema: { $ref: '#/definitions/Whole' } }]
    assert.deepEqual(
      inputOf({ swagger: '2.0', definitions: components.schemas, paths: paths({ parameters: old }) }),
      shown
    )
    const town = { name: 'town', in: 'query', schema: {}, examples: { one: { $ref: '#/components/examples/Town' } } }
    assert.deepEqual(inputOf({ openapi: '3.0.3', components, paths: paths({ parameters: [town] }) }), {
      town: { examples: ['Oslo'] }
    })
  })

  it('that are not published leave the definitions after them', () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const schemas = {
      Pet: { type: 'object', properties: { dog: ref('Dog'), cat: ref('Cat') }, example: { dog: {} } },
      Dog: { type: 'object', properties: { name: ref('Name') } },
      Cat: { type: 'object' },
      Name: { type: 'string' }
    }
    const schema = { type: 'object', properties: { pet: ref('Pet') } }
    const body = { content: { 'application/json': { schema } } }
    const document = { openapi: '3.1.0', components: { schemas }, paths: paths({ requestBody: body }) }
    const text = JSON.stringify({ info: { title: 'x', version: '1' }, ...document })
    const [operation] = importOpenapi({ text, endpoint: 'http://127.0.0.1/' }).description.operations
    assert.doesNotThrow(() => new Ajv2020({ strict: false }).compile(operation?.input ?? {}))
    assert.deepEqual(Object.keys(operation?.input?.['$defs'] ?? {}).sort(), ['Cat', 'Dog', 'Name', 'Pet'])
  })

  it('publishes a required member that the document does not describe', async () => {
    const schema = {
      allOf: [{ type: 'object', required: ['href', 'name'] }, { properties: { name: { type: 'string' } } }]
    }
    const requestBody = { required: true, content: { 'application/json': { schema } } }
    const { description, map } = callsOf(documentOf({ requestBody }))
    const { properties, required } = description.operations[0]?.input ?? {}
    assert.deepEqual(properties, { name: { type: 'string' }, href: {} })
    assert.deepEqual(required, ['name', 'href'])
    await assert.rejects(async () => map({ operation: 'op', name: 'a' }), /must have the field "href"/)
    await map({ operation: 'op', name: 'a', href: 'b' })
  })

  it('requires the members of a body that may be left out once one of them is given', () => {
    const schema = {
      type: 'object',
      required: ['id', 'name', 'query'],
      properties: { id: { type: 'string', readOnly: true }, name: {}, note: {}, query: {} }
    }
    const operation = {
      operationId: 'op',
      parameters: [{ name: 'query', in: 'query', schema: {} }],
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'ok' } }
    }
    const info = { title: 'x', version: '1' }
    const text = JSON.stringify({ openapi: '3.1.0', info, paths: { '/': { post: operation } } })
    const [only] = importOpenapi({ text, endpoint: 'http://127.0.0.1/' }).description.operations
    const takes = new Ajv2020({ strict: false }).compile(only?.input ?? {})
    assert.ok(takes({}))
    assert.ok(takes({ 'query.query': 1 }))
    assert.ok(takes({ name: 1, 'body.query': 1 }))
    assert.ok(!takes({ note: 1 }))
    assert.ok(!takes({ name: 1 }))
  })
})

describe('patterns of an OpenAPI document', () => {
  const comma = String.raw`^-?\d{0,2}(?:\,\d{0,2})?$`
  const lost = String.raw`^\d+\Z`
  const published = (schema: object, padding = '') => {
    const properties = { a: { $ref: '#/components/schemas/A' } }
    const content = { 'application/json': { schema: { type: 'object', properties } } }
    const operation = {
      description: padding,
      requestBody: { content },
      responses: { 200: { description: 'ok', content } }
    }
    const paths = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`/${at}`, { post: operation }]))
    const info = { title: 'x', version: '1' }
    const text = JSON.stringify({ openapi: '3.1.0', info, paths, components: { schemas: { A: schema } } })
    const { description } = importOpenapi({ text, endpoint: 'http://127.0.0.1/' })
    const [operation0] = completeOperations(description, 1_000_000)
    const validators = [operation0?.input, operation0?.output].map((one) =>
      new Ajv2020({ strict: false }).compile(one ?? {})
    )
    return {
      takes: (a: unknown) => validators.every((validate) => validate({ a })),
      a: (operation0?.input?.['$defs'] as Record<string, Record<string, unknown>> | undefined)?.['A']
    }
  }

  it('are published in a form that is valid with the flag u', () => {
    for (const padding of ['', PADDING]) {
      const { takes, a } = published({ pattern: comma, patternProperties: { '^\\,': false } }, padding)
      assert.equal(a?.['pattern'], comma.replace('\\,', ','))
      assert.deepEqual(['1,2', '12', '1;2', { ',x': 1 }, { x: 1 }].map(takes), [true, true, false, false, true])
    }
  })

  it('are left out with a comment if they have no such form, and reject nothing because of that', () => {
    const cases: ReadonlyArray<readonly [schema: object, value: unknown]> = [
      [{ pattern: lost }, 'x'],
      [{ not: { pattern: lost } }, 'x'],
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      [{ if: { pattern: lost }, then: { maxLength: 1 } }, 'xyz'],
      [{ contains: { pattern: lost }, maxContains: 1 }, ['x', 'y']],
      [
        {
          oneOf: [
            { pattern: lost, required: ['a'] },
            { maxLength: 9, required: ['b'] }
          ]
        },
        'x'
      ],
      [{ patternProperties: { [lost]: true }, additionalProperties: false }, { 1: 1 }]
    ]
    for (const [schema, value] of cases) {
      const { takes, a } = published({ ...schema, title: 'kept' })
      assert.ok(takes(value), JSON.stringify(schema))
      assert.match(String(a?.['$comment']), /^The pattern .*Z" is left out/)
      assert.equal(a?.['title'], 'kept')
    }
  })
})
