import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const part = (name: string, more: Json = {}): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { type: 'string' } },
  ...more
})
const CLOSED = { additionalProperties: false }
const warningsOf = (schema: Json, schemas: Json = {}) => {
  const requestBody = { content: { 'application/json': { schema } } }
  return callsOf(documentOf({ requestBody }, '/x', '3.1.0', { components: { schemas } })).warnings
}

describe('a schema whose parts exclude each other’s members', () => {
  const Base = part('id', CLOSED)
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

  it('is a warning, named by the schema or the operation', () => {
    const allOf = [ref('Base'), part('name', CLOSED)]
    const why = 'a part of its allOf requires "name", and another excludes it by additionalProperties: false.'
    assert.deepEqual(warningsOf(ref('Derived'), { Base, Derived: { allOf } }), [
      `The schema Derived fits no object: ${why}`
    ])
    assert.deepEqual(warningsOf({ allOf }, { Base }), [`The body of op fits no object: ${why}`])
  })

  it('is none where some object fits', () => {
    const open: readonly Json[] = [
      { allOf: [part('id'), part('name')] },
      { allOf: [part('id', CLOSED), part('name', { ...CLOSED, required: [], properties: { id: {}, name: {} } })] },
      { allOf: [part('id', { ...CLOSED, required: [] }), part('name', { ...CLOSED, required: [] })] },
      { allOf: [part('id', { properties: { id: { readOnly: true } } }), part('name', { ...CLOSED, required: [] })] },
      { allOf: [part('id'), { type: 'object', patternProperties: { '^i': {} }, ...CLOSED }] },
      { oneOf: [part('id', CLOSED), part('name', CLOSED)] }
    ]
    for (const schema of open) assert.deepEqual(warningsOf(schema), [], JSON.stringify(schema))
  })
})
