import assert from 'node:assert/strict'
import { providerShare } from '../../../node/console/parts/money.ts'
import { exampleOf, membersOf, shapeOf, startOf, typeName } from '../../../node/console/parts/form/schema.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

describe('schemas of forms', () => {
  it('resolve references and allOf, and treat "type or null" as the type', () => {
    const root = {
      $defs: { base: { properties: { id: { type: 'integer' } }, required: ['id'] }, name: { type: 'string' } },
      type: 'object',
      allOf: [{ $ref: '#/$defs/base' }],
      properties: { name: { anyOf: [{ $ref: '#/$defs/name' }, { type: 'null' }] } }
    }
    const shape = shapeOf(root, root)
    assert.equal(shape.kind, 'object')
    assert.deepEqual(
      membersOf(shape.schema)?.map(({ name, isRequired }) => [name, isRequired]),
      [
        ['id', true],
        ['name', false]
      ]
    )
    assert.deepEqual(shapeOf(root.properties.name, root).isNullable, true)
    assert.equal(typeName(root.properties.name, root), 'text')
    assert.deepEqual(exampleOf(root, root), { id: 1, name: 'text' })
  })

  it('start with constants, and with defaults and examples of required members', () => {
    const schema = {
      type: 'object',
      properties: {
        operation: { const: 'get' },
        depth: { type: 'integer', default: 3, examples: [4] },
        town: { type: 'string', examples: ['Oslo'] },
        note: { type: 'string' }
      },
      required: ['operation', 'depth', 'town', 'note']
    }
    assert.deepEqual(startOf(schema, schema), { operation: 'get', depth: 3, town: 'Oslo' })
  })

  it('are read quickly even if they are recursive or expand to millions of members', async () => {
    const own = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
    const endless = { ...own, $defs: {} }
    exampleOf(endless, { $defs: { a: own } })
    const levels = Array.from({ length: 40 }, (_, at) => [
      `a${at}`,
      { allOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/a${at + 1}` })) }
    ])
    const wide = { $defs: Object.fromEntries(levels) as Record<string, unknown>, $ref: '#/$defs/a0' }
    assert.equal(shapeOf(wide, wide).kind, 'any')
    const names = Array.from({ length: 100 }, (_, at) => [`m${at}`, { $ref: '#/$defs/b' }])
    const properties = Object.fromEntries(names) as Record<string, unknown>
    const b = { type: 'object', properties, required: Object.keys(properties) }
    const many = { ...b, $defs: { b } }
    await assertCpuBelow(2_000, () => [startOf(many, many), exampleOf(many, many)])
  })

  it('become any JSON if they are not supported', () => {
    for (const odd of [
      true,
      null,
      12,
      'text',
      [],
      { $ref: 'https://elsewhere.example/#/a' },
      { $ref: '#/constructor' }
    ]) {
      assert.equal(shapeOf(odd, {}).kind, 'any')
      assert.deepEqual(exampleOf(odd, {}), {})
    }
  })

  it('show the exact share of a price, and none for an invalid price', () => {
    assert.equal(providerShare('0.001'), '0.00095')
    assert.equal(providerShare('0.000001'), '0.00000095')
    assert.equal(providerShare('9007199254740993.1'), '8556839292003943.445')
    assert.equal(providerShare('0'), '0')
    for (const none of ['', '-1', '1e3', '0.0000001', '1,5']) assert.equal(providerShare(none), undefined)
  })
})
