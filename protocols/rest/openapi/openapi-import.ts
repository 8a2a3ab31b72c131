import { CALL_CODES_TRIED_BYTES_MAX, PATTERNS_SIZE_MAX } from '../../../lib/base/limits/descriptions.ts'
import { CALL_SCHEMA_BYTES_MAX } from '../../../lib/base/limits/rest.ts'
import type { Inspection } from '../../../lib/interface/adapter.ts'
import { boundedWarnings } from '../../description-worker/bounded-warnings.ts'
import { PatternBudget } from '../../pattern/pattern-budget.ts'
import { callSchemas, NOT_CHECKED } from '../call-check/call-schemas.ts'
import { type CallSchemas, checkCode } from '../call-check/check-code.ts'
import { mentionsOf } from '../call-check/checkable-schema.ts'
import { describeOpenapi } from './openapi-description.ts'
import { type OpenapiTexts, readOpenapi } from './openapi-document.ts'
import { operationsOf } from './openapi-operations.ts'
import { aboutOf, serverOfParts } from './openapi-outline.ts'
import { documentServers } from './openapi-servers.ts'
import type { RestApi } from './rest-api.ts'
import { writeSnapshot } from '../snapshot.ts'

/** A document, and the parts of a registration that it depends on. */
export interface OpenapiSource extends OpenapiTexts {
  /** The operations are relative to it. */
  readonly endpoint: string
  /** Further origins that the provider confirmed. */
  readonly origins?: readonly string[]
  /** Parameters that the credentials or the endpoint supply. Names of headers are in lower case. */
  readonly supplied?: { readonly [place in 'header' | 'query' | 'cookie']: readonly string[] }
  /** Cookies that the listing forwards. */
  readonly cookies?: readonly string[]
}

const PATTERN_CHARS_SHOWN = 200
const WARNINGS_SHOWN = 20

/** The stored snapshot and the published description of a document. @throws SoukError `invalid_request` with the problem */
export function importOpenapi(source: OpenapiSource): Inspection {
  const { endpoint, origins = [], supplied, cookies = [] } = source
  const document = readOpenapi(source)
  const documented = documentServers(document, endpoint)[0] ?? serverOfParts(document.root, endpoint)
  const supplies: Readonly<Record<string, readonly string[]>> = supplied ?? {}
  const { api, warnings } = operationsOf(document, {
    servers: { endpoint, documented, origins: new Set(origins) },
    isSupplied: (place, name) => supplies[place]?.includes(place === 'header' ? name.toLowerCase() : name) === true,
    takesCookie: (name) => cookies.includes(name)
  })
  const unchecked = checkWarnings(api)
  const { violation, references } = document
  return {
    about: aboutOf(document),
    description: describeOpenapi(api),
    snapshot: writeSnapshot(api, unchecked),
    warnings: boundedWarnings([
      ...(violation === undefined
        ? []
        : [`The OpenAPI document violates its specification, but can be read: ${violation}`]),
      ...references.unreadable,
      ...baseWarnings(documented, endpoint),
      ...warnings,
      ...unchecked
    ])
  }
}

/**
 * Warnings about the parts of the document that calls are not checked against. @throws SoukError `invalid_request` if the
 * patterns are too large together
 */
export function checkWarnings(api: RestApi): string[] {
  const { operations, definitions } = api
  const warnings: string[] = []
  const all = operations.flatMap(({ parameters, body }) => [...parameters.map(({ schema }) => schema), body?.schema])
  const budget = new PatternBudget(PATTERNS_SIZE_MAX)
  const patterns = new Set([...all, ...Object.values(definitions)].flatMap((schema) => mentionsOf(schema).patterns))
  for (const pattern of patterns) {
    const problem = budget.problemOf(pattern)
    if (problem === undefined) continue
    warnings.push(
      `The pattern ${JSON.stringify(pattern.slice(0, PATTERN_CHARS_SHOWN))} ${problem}: calls are not checked against it.`
    )
  }
  warnings.push(...codeWarnings(api))
  const more = warnings.length - WARNINGS_SHOWN
  return more > 0
    ? [...warnings.slice(0, WARNINGS_SHOWN), `${more} further patterns or operations are not checked.`]
    : warnings
}

/** Generates the code that checks calls, within a total size, to find the operations for which this fails. */
function codeWarnings({ operations, definitions }: RestApi): string[] {
  let bytesLeft = CALL_CODES_TRIED_BYTES_MAX
  return operations.flatMap((operation) => {
    const schemas = callSchemas(operation, definitions)
    const { name } = operation
    if (schemas === undefined) {
      return [`Calls of ${name} are not checked: its schemas are larger than ${CALL_SCHEMA_BYTES_MAX} bytes.`]
    }
    bytesLeft -= bytesLeft > 0 ? JSON.stringify(schemas).length : 0
    const problem = bytesLeft > 0 ? codeProblem(schemas) : undefined
    return problem === undefined ? [] : [`Calls of ${name} ${problem}`]
  })
}

function codeProblem(schemas: CallSchemas): string | undefined {
  try {
    return checkCode(schemas) === undefined ? NOT_CHECKED : undefined
  } catch {
    return 'are refused: the check that its schemas need is too large.'
  }
}

/** A warning if the document's own base path differs from that of the endpoint, because calls go to paths below the endpoint. */
function baseWarnings(documented: string | undefined, endpoint: string): string[] {
  if (documented === undefined) return []
  const pathOf = (url: string) => new URL(url).pathname.replace(/\/$/, '')
  const [base, own] = [pathOf(documented), pathOf(endpoint)]
  if (base === own) return []
  return [`The document’s paths are below ${base}/, but are called below ${own}/. Check that the endpoint is right.`]
}
