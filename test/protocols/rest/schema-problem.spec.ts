import assert from 'node:assert/strict'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { checkCode } from '../../../protocols/rest/call-check/check-code.ts'
import { loadCheck } from '../../../protocols/rest/call-check/check-runtime.ts'

const STEPS = 1_000_000
const CAT = { type: 'object', properties: { kind: { const: 'cat' }, lives: { type: 'integer' } }, required: ['kind'] }
const DOG = { type: 'object', properties: { kind: { enum: ['dog'] }, barks: { type: 'boolean' } }, required: ['kind'] }

function problemOf(body: JsonSchema, value: unknown): string {
  const code = checkCode({ parameters: {}, body, definitions: {} }) ?? assert.fail('no code')
  const problem = loadCheck(code)({ parameters: {}, body: value }, STEPS)
  return problem === undefined ? 'none' : `${problem.path} ${problem.rule}`
}

describe('the problem of a call', () => {
  const cases: ReadonlyArray<readonly [what: string, schema: JsonSchema, value: unknown, problem: string]> = [
    [
      'a field too many',
      { properties: { a: {} }, additionalProperties: false },
      { b: 1 },
      '/body must not have the field "b"'
    ],
    [
      'one that no part has',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { b: 1 },
      '/body must not have the field "b"'
    ],
    [
      'the name of one',
      { propertyNames: { minLength: 3 } },
      { b: 1 },
      '/body must not have the field "b", whose name must not have fewer than 3 characters'
    ],
    ['a missing field', { required: ['a'] }, {}, '/body must have the field "a"'],
    ['a constant', { properties: { a: { const: 5 } } }, { a: 6 }, '/body/a must be 5'],
    ['an excluded value', { properties: { a: false } }, { a: 6 }, '/body/a has a value that is not allowed'],
    [
      'types',
      { anyOf: [{ type: 'string' }, { type: ['number', 'null'] }] },
      true,
      '/body must be string, number or null'
    ],
    ['a type and values', { anyOf: [{ type: 'number' }, { enum: ['a', 'b'] }] }, 'c', '/body must be "a" or "b"'],
    [
      'a type that is right but for a field',
      { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
      {},
      '/body must have the field "a"'
    ],
    ['an unknown kind', { oneOf: [CAT, DOG] }, { kind: 'cow' }, '/body/kind must be "cat" or "dog"'],
    ['a known kind', { oneOf: [CAT, DOG] }, { kind: 'dog', barks: 'loud' }, '/body/barks must be boolean'],
    ['no kind', { oneOf: [CAT, DOG] }, {}, '/body must have the field "kind"'],
    [
      'different fields',
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      '/body must have the field "a", or must have the field "b"'
    ],
    [
      'several that fit',
      { oneOf: [{ type: 'object' }, { required: ['b'] }, { required: ['a'] }] },
      { a: 1 },
      '/body must fit exactly one alternative of its schema, but fits several'
    ],
    [
      'a deep one',
      { properties: { pets: { items: { oneOf: [CAT, DOG] } } } },
      { pets: [{ kind: 'cat' }, { kind: 'cat', lives: 'x' }] },
      '/body/pets/1/lives must be integer'
    ]
  ]
  for (const [what, schema, value, problem] of cases) {
    it(`names ${what}`, () => assert.equal(problemOf({ ...schema }, value), problem))
  }

  it('is short, however much a schema lists and a caller sends', () => {
    const values = Array.from({ length: 1_000 }, (_, at) => `value ${at}`)
    assert.ok(problemOf({ enum: values }, 'x').length < 500)
    assert.ok(problemOf({ additionalProperties: false }, { ['x'.repeat(10_000)]: 1 }).length < 500)
  })
})
