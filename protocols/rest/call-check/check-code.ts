import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { SoukError } from '../../../lib/base/errors.ts'
import { PATTERNS_SIZE_MAX } from '../../../lib/base/limits/descriptions.ts'
import { CALL_CHECK_CHARS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import type { JsonObject } from '../../exact-json.ts'
import { PatternBudget } from '../../pattern/pattern-budget.ts'
import type { Definitions } from '../openapi/openapi-schemas.ts'
import { CheckableSchemas, STEP } from './checkable-schema.ts'
import { FORMATS } from './formats.ts'
import { LOOP, ONCE } from './loop-keywords.ts'

/** The schemas for the calls of one operation. */
export interface CallSchemas {
  readonly parameters: JsonSchema
  readonly body?: JsonSchema
  /** The definitions that the others refer to. */
  readonly definitions: Definitions
}

/**
 * The source of a function that checks `{parameters, body}`, for `loadCheck`. Undefined if Ajv cannot compile the schemas. Calls
 * are then not checked here, only by the API.
 * @throws SoukError `description_too_complex`
 */
export function checkCode({ parameters, body, definitions }: CallSchemas): string | undefined {
  const budget = new PatternBudget(PATTERNS_SIZE_MAX)
  const schemas = new CheckableSchemas(definitions, (pattern) => budget.problemOf(pattern) === undefined)
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    validateSchema: false,
    addUsedSchema: false,
    // Else every object has a `constructor`.
    ownProperties: true,
    // Each definition becomes one function, however many references it has.
    inlineRefs: false,
    formats: FORMATS,
    code: { source: true, regExp, formats: _`require("souk").formats` }
  })
  ajv.removeKeyword('uniqueItems')
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({ keyword: STEP, before: '$ref', code: stepCode })
  ajv.addKeyword({ keyword: ONCE, schemaType: 'object', code: onceCode })
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    error: { message: 'must not have duplicate items' },
    code: uniqueCode
  })
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    error: { message: ({ schema }) => _`${`must be multiple of ${String(schema)}`}` },
    code: multipleCode
  })
  const code = generated(ajv, {
    properties: { parameters: schemas.of(parameters), ...(body === undefined ? {} : { body: schemas.of(body) }) },
    $defs: schemas.definitions()
  })
  if (code === undefined || code.length <= CALL_CHECK_CHARS_MAX) return code
  throw new SoukError(
    'description_too_complex',
    `Checking a call of this operation would take more than ${CALL_CHECK_CHARS_MAX} characters of code, which is the limit.`
  )
}

/** Ajv rejects some schemas, such as one with a reference to a missing definition, and throws on others. */
function generated(ajv: Ajv2020, schema: JsonObject): string | undefined {
  try {
    return standaloneCode.default(ajv, ajv.compile(schema))
  } catch (error) {
    if (error instanceof RangeError) throw error
    return undefined
  }
}

/** Generated code calls this function to compile patterns at run time. */
const regExp = Object.assign((pattern: string) => ({ test: () => true, toString: () => pattern }), {
  code: 'require("souk").regExp'
})

function stepCode({ gen, data, schema }: KeywordCxt): void {
  const step = gen.scopeValue('func', { ref: stepCode, code: _`require("souk").step` })
  gen.code(_`${step}(${data}, ${schema as number})`)
}

function onceCode(cxt: KeywordCxt): void {
  const { gen, data } = cxt
  const loops = gen.scopeValue('func', { ref: onceCode, code: _`require("souk").loops` })
  const loop = String(cxt.parentSchema[LOOP])
  const isValid = gen.let('isValid', true)
  gen.if(_`${loops}.enter(${loop}, ${data})`, () => {
    const isAccepted = gen.name('isAccepted')
    // The code of a composite rule goes on after an error, so `leave` is always called.
    const inner = cxt.subschema({ keyword: ONCE, compositeRule: true }, isAccepted)
    gen.assign(isValid, isAccepted)
    gen.code(_`${loops}.leave(${loop}, ${data})`)
    cxt.mergeValidEvaluated(inner, isAccepted)
  })
  cxt.ok(isValid)
}

function multipleCode(cxt: KeywordCxt): void {
  const isMultiple = cxt.gen.scopeValue('func', { ref: multipleCode, code: _`require("souk").isMultiple` })
  cxt.pass(_`${isMultiple}(${cxt.data}, ${cxt.schema as number})`)
}

function uniqueCode(cxt: KeywordCxt): void {
  if (cxt.schema !== true) return
  const isUnique = cxt.gen.scopeValue('func', { ref: uniqueCode, code: _`require("souk").isUnique` })
  cxt.pass(_`${isUnique}(${cxt.data})`)
}
