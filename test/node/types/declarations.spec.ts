import assert from 'node:assert/strict'
import { limits } from '../../../lib/index.ts'
import type { JsonSchema } from '../../../lib/interface/index.ts'
import { ofSchema } from './listing.ts'

describe('the types of an API', () => {
  it('say what schemas say', async () => {
    const types = async (schema: JsonSchema) =>
      /input: ([^]*)\n {4}output/
        .exec((await ofSchema({ properties: { v: schema } })).split('  x: {')[1] ?? '')?.[1]
        ?.replaceAll(/\s+/g, ' ')
    const cases: ReadonlyArray<readonly [JsonSchema, string]> = [
      [{ type: 'integer' }, 'number'],
      [{ type: ['string', 'null'] }, 'string | null'],
      [{ type: 'string', nullable: true }, 'string | null'],
      [{ const: 'a' }, '"a"'],
      [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
      [{ enum: [{ a: 1 }] }, 'unknown'],
      [{ type: 'object' }, '{ [name: string]: unknown }'],
      [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number }'],
      [{ type: 'object', additionalProperties: false }, '{ [name: string]: never }'],
      [{ properties: { a: {} }, additionalProperties: true }, '{ a?: unknown [name: string]: unknown }'],
      [{ required: ['a'] }, '{ a: unknown }'],
      [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
      [{ prefixItems: [{ type: 'string' }], items: false }, 'string[]'],
      [{ allOf: [{ type: 'object' }, { properties: { a: { type: 'string' } } }] }, '{ a?: string }'],
      [
        { properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
        '{ a?: unknown } & ({ a: unknown } | { b: unknown })'
      ],
      [{ anyOf: [{ type: 'string' }, true] }, 'unknown'],
      [{ properties: 'wrong', required: 5, anyOf: {}, allOf: null }, 'unknown']
    ]
    for (const [schema, expected] of cases)
      assert.equal(await types(schema), `{ v?: ${expected} }`, JSON.stringify(schema))
    assert.match(
      await ofSchema({ properties: { operation: { const: 'x' }, a: {} }, required: ['operation'] }),
      /input: \{\n {6}a\?: unknown\n {4}\}/
    )
  })

  it('have a bounded size', async () => {
    let deep: JsonSchema = { type: 'string' }
    for (let depth = 0; depth < 2_000; depth++) deep = { properties: { a: deep } }
    assert.ok((await ofSchema(deep)).length < 10_000)
    assert.ok(
      (await ofSchema({ description: 'a'.repeat(1e6), properties: { b: { description: 'a'.repeat(1e6) } } })).length <
        10_000
    )
    const values = Array.from({ length: limits.TYPES_ALTERNATIVES_MAX + 1 }, (_, at) => at)
    assert.ok((await ofSchema({ properties: { a: { type: 'number', enum: values } } })).includes('a?: number'))
  })
})
