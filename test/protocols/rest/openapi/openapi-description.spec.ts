import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { completeOperations } from '../../../../lib/describe/complete.ts'
import { importOpenapi } from '../../../../protocols/rest/openapi/openapi-import.ts'

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
