import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const callsWith = (schema: Json, version = '3.0.3') =>
  callsOf(documentOf({ parameters: [{ name: 'f', in: 'query', schema }] }, '/x', version, { components: COMPONENTS }))
const COMPONENTS = { schemas: { Size: { type: 'integer' } } }

describe('listed values of another type than their schema', () => {
  const cases: ReadonlyArray<readonly [schema: Json, good: unknown, bad: unknown]> = [
    [{ type: 'string', enum: [1, 2] }, '1', '3'],
    [{ type: 'string', enum: ['1.0', 1.1, true] }, '1.1', '1.2'],
    [{ type: 'integer', enum: ['1', '2'] }, 2, 3],
    [{ type: 'number', enum: ['0.5', '1'] }, 0.5, 2],
    [{ type: 'boolean', enum: ['true', 'false'] }, false, 'yes'],
    [{ type: 'boolean', enum: ['true'] }, true, false],
    [{ type: 'array', enum: ['a', 'b'], items: { type: 'string' } }, ['a', 'b'], ['c']],
    [{ type: 'array', enum: [1, 2], items: { type: 'string' } }, ['1'], ['3']],
    [{ type: 'array', enum: ['a'], items: { type: 'string', enum: ['b'] } }, ['b'], ['a']],
    [{ type: 'array', enum: ['a'], items: { $ref: '#/components/schemas/Size' } }, [1], ['a']],
    [{ type: 'integer', enum: ['low', 'high'] }, 'low', 'other'],
    [{ type: 'object', enum: ['a'] }, 'a', {}],
    [{ type: 'array', enum: [['a'], ['b']], items: { type: 'string' } }, ['a'], ['c']],
    [{ type: 'string', enum: ['a', null] }, 'a', 'b']
  ]
  for (const [schema, good, bad] of cases) {
    it(`${JSON.stringify(schema)} takes ${JSON.stringify(good)}`, async () => {
      const { map } = callsWith(schema)
      await map({ f: good })
      await assert.rejects(map({ f: bad }), /^SoukError: The field "f/)
    })
  }

  it('also as a constant', async () => {
    const { map } = callsWith({ type: 'string', const: 5 }, '3.1.0')
    await map({ f: '5' })
    await assert.rejects(map({ f: '6' }), /"f" must be "5"/)
    await callsWith({ type: 'integer', const: 'a' }, '3.1.0').map({ f: 'a' })
  })
})

describe('rules that exclude all listed values', () => {
  for (const [schema, good, bad] of [
    [{ type: 'string', maxLength: 1, enum: ['MALE', 'FEMALE'] }, 'MALE', 'M'],
    [{ type: 'string', minLength: 9, enum: ['a'] }, 'a', 'bbbbbbbbb'],
    [{ type: 'string', pattern: '^[A-Z]+$', enum: ['now', 'later'] }, 'later', 'NOW'],
    [{ type: 'integer', minimum: 5, maximum: 9, enum: [1, 2] }, 1, 5],
    [{ type: 'number', minimum: 2, exclusiveMinimum: true, enum: [2] }, 2, 3],
    [{ type: 'string', pattern: '^(?=a)b', maxLength: 1, enum: ['MALE'] }, 'MALE', 'M']
  ] as const) {
    it(`are no rules: ${JSON.stringify(schema)}`, async () => {
      const { map } = callsWith(schema)
      await map({ f: good })
      await assert.rejects(map({ f: bad }), /"f" must be/)
    })
  }

  it('are an alternative to the values if they are a format, as in SendGrid’s document', async () => {
    const { map } = callsWith({ type: 'string', format: 'date-time', enum: ['now'] })
    await map({ f: 'now' })
    await map({ f: '2026-01-02T03:04:05Z' })
    await assert.rejects(map({ f: 'later' }), /"f" must be "now", or must match format "date-time"/)
  })

  it('are kept if one value fits', async () => {
    const { map } = callsWith({
      type: 'string',
      pattern: '^[A-Z]+$',
      format: 'date',
      enum: ['now', 'LATER', '2026-01-02']
    })
    await assert.rejects(map({ f: 'now' }), /must match/)
    await assert.rejects(callsWith({ type: 'integer', minimum: 2, enum: [1, 2] }).map({ f: 1 }), /must be >= 2/)
  })
})

describe('nullable', () => {
  const bodyOf = (schema: Json, version: string) =>
    callsOf(
      documentOf(
        { requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { f: schema } } } } } },
        '/x',
        version,
        { components: COMPONENTS }
      )
    )
  for (const version of ['3.0.3', '3.1.0', '3.2.0']) {
    it(`allows null, also beside a reference: ${version}`, async () => {
      for (const schema of [
        { type: 'integer', nullable: true },
        { $ref: '#/components/schemas/Size', nullable: true }
      ]) {
        const { map } = bodyOf(schema, version)
        await map({ f: null })
        await map({ f: 1 })
        await assert.rejects(map({ f: 'x' }), /"f" must be integer or null/)
      }
      await assert.rejects(bodyOf({ type: 'integer', nullable: false }, version).map({ f: null }), /must be integer/)
    })
  }
})

describe('bounds that exclude all values', () => {
  for (const [schema, value] of [
    [{ type: 'integer', minimum: 5, maximum: 3 }, 4],
    [{ type: 'string', minLength: 5, maxLength: 2 }, 'abc'],
    [{ type: 'array', items: {}, minItems: 5, maxItems: 2 }, [1, 2, 3]],
    [{ type: 'object', minProperties: 2, maxProperties: 1 }, { a: 1 }]
  ] as const) {
    it(`are no bounds: ${JSON.stringify(schema)}`, () => callsWith(schema).map({ f: value }))
  }

  it('are kept if they allow one', async () => {
    await assert.rejects(callsWith({ type: 'integer', minimum: 5, maximum: 5 }).map({ f: 4 }), /must be >= 5/)
  })
})

describe('a default or an example of another type than its schema', () => {
  const published = (schema: Json) => {
    const { properties } = callsWith(schema).description.operations[0]?.input ?? {}
    return (properties as Json | undefined)?.['f']
  }

  it('gets the type', () => {
    assert.deepEqual(published({ type: 'string', default: 3600, example: 60 }), {
      type: 'string',
      default: '3600',
      examples: ['60']
    })
    assert.deepEqual(published({ type: 'integer', default: '5' }), { type: 'integer', default: 5 })
    assert.deepEqual(published({ type: 'boolean', default: 'false' }), { type: 'boolean', default: false })
  })

  it('is left out if it cannot have it', () => {
    assert.deepEqual(published({ type: 'integer', default: 'none', example: 'x' }), { type: 'integer' })
    assert.deepEqual(published({ type: 'string', default: null }), { type: 'string' })
  })
})
