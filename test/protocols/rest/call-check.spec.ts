import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as fc from 'fast-check'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { OutOfSteps } from '../../../protocols/pattern/meter.ts'
import { type CallSchemas, checkCode } from '../../../protocols/rest/call-check/check-code.ts'
import { loadCheck } from '../../../protocols/rest/call-check/check-runtime.ts'
import { OpenapiCalls } from '../../../protocols/rest/openapi/openapi-call.ts'
import { checkWarnings } from '../../../protocols/rest/openapi/openapi-import.ts'
import type { RestOperation } from '../../../protocols/rest/openapi/rest-api.ts'
import type { Definitions } from '../../../protocols/rest/openapi/openapi-schemas.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

const PLENTY = 1e9
const WARNING = 'Calls of bad are not checked: no check can be made of its schemas.'
const accepts = (body: JsonSchema, value: unknown, definitions: Definitions = {}, steps = PLENTY) =>
  loadCheck(codeOf({ parameters: {}, body, definitions }))({ parameters: {}, body: value }, steps) === undefined

const name = fc.constantFrom('a', 'b', 'ab', 'constructor')
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1, 2.5, -1, '', 'a', 'ab', 'aaa', '7', 'é'),
  fc.integer()
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true })
  )
}))
const count = fc.nat({ max: 3 })
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 2 })
  const named = fc.dictionary(name, tie('schema'), { maxKeys: 2, noNullPrototype: true })
  const keywords = {
    type: fc.oneof(fc.constantFrom('string', 'integer', 'number', 'array', 'object'), fc.constant(['string', 'null'])),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    format: fc.constantFrom('date', 'uuid', 'int32', 'unheard-of'),
    pattern: fc.constantFrom('^a+$', 'b', String.raw`^\d$`, '^(a|b)*$'),
    minimum: fc.integer({ min: -1, max: 2 }),
    maxLength: count,
    minLength: count,
    maxItems: count,
    minItems: count,
    uniqueItems: fc.boolean(),
    maxProperties: count,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    items: tie('schema'),
    prefixItems: list,
    contains: tie('schema'),
    properties: named,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), tie('schema'), { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
    propertyNames: tie('schema'),
    dependentSchemas: named,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: tie('schema'),
    if: tie('schema'),
    else: tie('schema'),
    $ref: fc.constantFrom('#/$defs/one', '#/$defs/other')
  }
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant({}),
      fc.record(keywords, { requiredKeys: [], noNullPrototype: true }).map((all) =>
        // A schema with all keywords at once accepts nothing.
        Object.fromEntries(Object.entries(all).filter(([key], at) => (key.length + at) % 4 === 0))
      )
    )
  }
})

const codeOf = (schemas: CallSchemas): string => checkCode(schemas) ?? assert.fail('no code can be generated')

/** Checks a list in it twice, so each further level doubles the steps. */
const item = { anyOf: [1, 2].map(() => ({ type: 'array', items: { $ref: '#/$defs/item' } })) }
const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)])

/** An operation that takes a body. */
const operation = (name: string, schema: JsonSchema): RestOperation => ({
  name,
  method: 'POST',
  path: `/${name}`,
  parameters: [],
  body: { type: 'application/json', schema, required: true }
})

describe('a check of calls', () => {
  it('accepts the same calls as Ajv', () => {
    fc.assert(
      fc.property(schema, schema, fc.array(value, { minLength: 1, maxLength: 5 }), (body, one, values) => {
        const definitions = { one: withoutReferences(one), other: { type: 'array', items: { $ref: '#/$defs/other' } } }
        const lenient = { strict: false, logger: false, validateSchema: false, addUsedSchema: false } as const
        const ajv = new Ajv2020({ ...lenient, ownProperties: true })
        addFormats.default(ajv)
        const expected = ajv.compile({ ...body, $defs: definitions })
        const check = loadCheck(codeOf({ parameters: {}, body, definitions }))
        for (const given of values) {
          const outcome = outcomeOf(() => expected(given))
          const problem = check({ parameters: {}, body: given }, PLENTY)
          const shown = () => `${JSON.stringify(body)} with ${JSON.stringify(definitions)} on ${JSON.stringify(given)}`
          if (outcome !== undefined) assert.equal(problem === undefined, outcome, shown())
        }
      }),
      fuzzRuns(200)
    )
  })

  it('reads multipleOf in decimal digits, as people do', () => {
    const rows: ReadonlyArray<readonly [factor: number, multiples: readonly number[], others: readonly number[]]> = [
      [0.01, [0, 19.99, -4.35, 1.1, 8.2, 1_000_000.29, 1e15], [19.999, 1.005, 1e-20, 0.001]],
      [0.1, [0.3, 0.7, 1.1, 2], [0.25, 0.05]],
      [0.000_1, [0.000_3, 12_345.678_9], [0.000_05]],
      [5, [0, -10, 1e20], [1, 2.5]],
      [2.5, [7.5, 10], [2.4]]
    ]
    for (const [multipleOf, multiples, others] of rows) {
      for (const one of multiples) assert.ok(accepts({ multipleOf }, one), `${one} is a multiple of ${multipleOf}`)
      for (const one of others) assert.ok(!accepts({ multipleOf }, one), `${one} is no multiple of ${multipleOf}`)
    }
    assert.ok(accepts({ multipleOf: 2 }, 'text'))
  })

  it('ignores keywords with empty lists of schemas, which are invalid', () => {
    for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) assert.ok(accepts({ [keyword]: [] }, 1), keyword)
  })

  it('skips a pattern that RE2 cannot express, and rejects nothing because of that', () => {
    const pattern = '^(?=.*A)'
    for (const [body, given] of [
      [{ pattern }, 'x'],
      [{ not: { pattern } }, 'A'],
      [{ oneOf: [{ pattern }, { maxLength: 9 }] }, 'x'],
      [{ contains: { pattern }, maxContains: 1 }, ['x', 'y']],
      [{ if: { pattern }, else: { maxLength: 1 } }, 'abc'],
      [{ patternProperties: { [pattern]: true }, additionalProperties: false }, { A: 1 }],
      [{ not: { $ref: '#/$defs/loose' } }, 'A'],
      [
        { anyOf: [{ properties: { a: { pattern } } }], unevaluatedProperties: false },
        { a: 'x', b: 1 }
      ]
    ] as const) {
      assert.equal(
        accepts(body, given, { loose: { allOf: [{ $ref: '#/$defs/deeper' }] }, deeper: { pattern } }),
        true,
        JSON.stringify(body)
      )
    }
    assert.equal(
      accepts({ type: 'object', properties: { a: { pattern }, b: { type: 'integer' } } }, { a: 'x', b: 'x' }),
      false
    )
  })

  it('stops when its steps are used up, for any cause', async () => {
    for (const [body, given] of [
      [{ $ref: '#/$defs/item' }, deep(40)],
      [{ pattern: '^(a|b)*a(a|b){500}$' }, 'ab'.repeat(50_000)],
      [{ uniqueItems: true }, Array.from({ length: 100_000 }, (_, n) => ({ n }))],
      [
        { items: { enum: Array.from({ length: 5_000 }, (_, n) => ({ n })) } },
        Array.from({ length: 5_000 }, () => ({ n: 4_999 }))
      ],
      [
        { items: { required: Array.from({ length: 5_000 }, (_, n) => `r${n}`) } },
        Array.from({ length: 5_000 }, () => 7)
      ],
      [
        { additionalProperties: false, patternProperties: { '^a': true } },
        Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`a${n}`, n]))
      ]
    ] as const) {
      const isStopped = () => accepts(body, given, { item }, 2_000_000)
      await assertCpuBelow(5_000, () => assert.throws(isStopped, OutOfSteps, JSON.stringify(body).slice(0, 100)))
    }
  })

  it('checks a value once where schemas refer to each other in a loop', () => {
    const [pet, cat, dog, self] = ['Pet', 'Cat', 'Dog', 'Self'].map((one) => ({ $ref: `#/$defs/${one}` }))
    const definitions = {
      Pet: {
        type: 'object',
        required: ['type'],
        properties: { type: { type: 'string' }, friends: { type: 'array', items: pet } },
        discriminator: { propertyName: 'type' },
        oneOf: [cat, dog]
      },
      Cat: { allOf: [pet, { properties: { lives: { type: 'integer' } } }] },
      Dog: { allOf: [pet, { properties: { bark: { type: 'boolean' } } }] },
      Self: { allOf: [self], type: 'string' }
    } as Definitions
    const rows: ReadonlyArray<readonly [body: unknown, given: unknown, isAccepted: boolean]> = [
      [pet, { type: 'Cat', lives: 9 }, true],
      [cat, { type: 'Cat', lives: 9 }, true],
      [pet, { type: 'Cat', lives: 'nine' }, false],
      [pet, { type: 'Dog', lives: 'nine' }, true],
      [pet, { lives: 9 }, false],
      [cat, { lives: 9 }, false],
      [pet, { type: 'Cat', friends: [{ type: 'Dog', bark: true }] }, true],
      [pet, { type: 'Cat', friends: [{ type: 'Dog', bark: 1 }] }, false],
      [{ anyOf: [{ allOf: [pet, { required: ['x'] }] }, { allOf: [pet, {}] }] }, { lives: 9 }, false],
      [{ anyOf: [{ allOf: [pet, { required: ['x'] }] }, pet] }, { type: 'Dog', bark: 1 }, false],
      [{ allOf: [cat], unevaluatedProperties: false }, { type: 'Cat', lives: 9 }, true],
      [self, 'text', true],
      [self, 1, false]
    ]
    for (const [body, given, isAccepted] of rows)
      assert.equal(accepts(body as JsonSchema, given, definitions), isAccepted, JSON.stringify([body, given]))
  })

  it('is not made where a reference leads nowhere, which is a warning when the document is read', () => {
    const dangling = { $ref: '#/$defs/gone' }
    const api = { operations: [operation('good', {}), operation('bad', dangling)], definitions: {} }
    assert.equal(checkCode({ parameters: {}, body: dangling, definitions: {} }), undefined)
    assert.deepEqual(checkWarnings(api), [WARNING])
  })

  it('is a warning of the API once a call finds out', async () => {
    const dangling = { $ref: '#/$defs/gone' }
    const calls = new OpenapiCalls({ operations: [operation('bad', dangling)], definitions: {} })
    assert.deepEqual(calls.warnings, [])
    await calls.map({ operation: 'bad', body: { a: 1 } }, new AbortController().signal)
    assert.deepEqual(calls.warnings, [WARNING])
  })

  it('that takes too long stops only calls of its own operation', async () => {
    const operations = [operation('slow', { $ref: '#/$defs/item' }), operation('quick', { type: 'object' })]
    const calls = new OpenapiCalls({ operations, definitions: { item } })
    const { signal } = new AbortController()
    for (let times = 0; times < 2; times++)
      await assert.rejects(calls.map({ operation: 'slow', body: deep(40) }, signal), {
        code: 'description_too_complex'
      })
    assert.equal((await calls.map({ operation: 'quick', body: { a: 1 } }, signal)).path, '/quick')
  })

  it('tells of each value that its code fails on', () => {
    let faults = 0
    const check = loadCheck('module.exports = (value) => value.body.missing.length > 0', () => faults++)
    assert.equal(check({ parameters: {}, body: {} }, PLENTY), undefined)
    assert.equal(faults, 1)
  })
})

/**
 * Ajv's generated code may fail; only the API then checks the call. `unevaluated…` fails too often to be compared. Undefined if
 * Ajv's own code is broken, because it uses a variable, `props0`, that has no declaration or no value.
 */
function outcomeOf(validate: () => boolean): boolean | undefined {
  try {
    return validate()
  } catch (error) {
    assert.ok(error instanceof ReferenceError || error instanceof TypeError, String(error))
    return undefined
  }
}

function withoutReferences(given: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(given), (key, one: unknown) =>
    key === '$ref' ? '#/$defs/other' : one
  ) as JsonSchema
}
