import { load } from 'js-yaml'
import { SoukError } from '../../../lib/base/errors.ts'
import {
  OPENAPI_BYTES_MAX,
  OPENAPI_CHARS_MAX,
  OPENAPI_NESTING_MAX,
  OPENAPI_NODES_MAX
} from '../../../lib/base/limits/rest.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { type OpenapiVersion, problemOf } from './openapi-specification.ts'

export interface OpenapiDocument {
  readonly version: OpenapiVersion
  readonly root: JsonObject
}

/**
 * Reads an OpenAPI document (3.0, 3.1, or 2.0, formerly Swagger) in JSON or YAML, and checks it against the specification.
 * References are checked but never expanded, because forty short schemas could expand to a billion.
 *
 * @throws SoukError `invalid_request` with the problem
 */
export function readOpenapi(text: string): OpenapiDocument {
  if (Buffer.byteLength(text) > OPENAPI_BYTES_MAX) {
    throw refuse(`The OpenAPI document is larger than ${OPENAPI_BYTES_MAX} bytes.`)
  }
  const root = parsed(text)
  const version = versionOf(root)
  const problem = problemOf(version, root)
  if (problem !== undefined) throw refuse(`The OpenAPI document is not valid: ${problem}`)
  return { version, root }
}

function parsed(text: string): JsonObject {
  const value = parsedValue(text)
  checkSize(value)
  // Converts values of YAML that JSON lacks, such as dates and anchors.
  const root: unknown = JSON.parse(JSON.stringify(value))
  if (!isObject(root)) throw refuse('The OpenAPI document is not a JSON or YAML object.')
  return root
}

function parsedValue(text: string): unknown {
  try {
    return /^\s*\{/.test(text) ? JSON.parse(text) : load(text)
  } catch (cause) {
    // The YAML parser has its own depth limit.
    if (cause instanceof RangeError || /nesting|depth/i.test(String(cause))) throw tooDeep(cause)
    throw refuse('The OpenAPI document is neither JSON nor YAML.', cause)
  }
}

/**
 * Iterative, so that recursive code never gets a document that is too deep. Values repeated by YAML anchors count each time; a
 * cycle of anchors ends at the depth limit.
 */
function checkSize(root: unknown): void {
  let nodes = 0
  let chars = 0
  const waiting: Array<readonly [value: unknown, depth: number]> = [[root, 1]]
  const count = (text: string) => {
    chars += text.length
    if (chars <= OPENAPI_CHARS_MAX) return
    throw refuse(`The OpenAPI document has more than ${OPENAPI_CHARS_MAX} characters once its anchors are resolved.`)
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, depth] = next
    if (++nodes > OPENAPI_NODES_MAX) {
      throw refuse(`The OpenAPI document has more than ${OPENAPI_NODES_MAX} values once its anchors are resolved.`)
    }
    if (typeof value === 'string') count(value)
    if (typeof value !== 'object' || value === null) continue
    if (depth > OPENAPI_NESTING_MAX) throw tooDeep()
    if (Array.isArray(value)) {
      for (const one of value as unknown[]) waiting.push([one, depth + 1])
    } else {
      for (const [name, one] of Object.entries(value)) {
        count(name)
        waiting.push([one, depth + 1])
      }
    }
    if (waiting.length > OPENAPI_NODES_MAX) nodes = OPENAPI_NODES_MAX
  }
}

function tooDeep(cause?: unknown): SoukError {
  return refuse(`The OpenAPI document is nested deeper than ${OPENAPI_NESTING_MAX} levels.`, cause)
}

function versionOf({ swagger, openapi }: JsonObject): OpenapiVersion {
  if (swagger === '2.0') return '2.0'
  const match = typeof openapi === 'string' ? /^3\.([01])\.\d+/.exec(openapi) : null
  if (match !== null) return match[1] === '0' ? '3.0' : '3.1'
  throw refuse('The document must be OpenAPI 3.0 or 3.1, or Swagger 2.0.')
}

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { cause })
}
