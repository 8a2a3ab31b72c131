import { compileErrors, validate } from '@readme/openapi-parser'
import { load } from 'js-yaml'
import { SoukError } from '../../lib/base/errors.ts'
import { OPENAPI_BYTES_MAX, OPENAPI_NODES_MAX } from '../../lib/base/limits.ts'
import { isObject, type JsonObject } from '../exact-json.ts'

export interface OpenapiDocument {
  readonly version: '2.0' | '3.0' | '3.1'
  readonly root: JsonObject
}

const PROBLEM_CHARS_MAX = 600

/**
 * An OpenAPI document (3.0, 3.1, or 2.0, which was called Swagger), in JSON or YAML, checked against the specification. Only
 * references within it are followed: a document must not make its provider's node read other files or hosts.
 *
 * @throws SoukError `invalid_request`, saying what is wrong with it
 */
export async function readOpenapi(text: string): Promise<OpenapiDocument> {
  if (Buffer.byteLength(text) > OPENAPI_BYTES_MAX) {
    throw refuse(`The OpenAPI document is larger than ${OPENAPI_BYTES_MAX} bytes.`)
  }
  const root = parsed(text)
  const version = versionOf(root)
  // A copy, as the library resolves references in place; cycles, which it would make, are left alone.
  const checked = await validate(structuredClone(root) as Parameters<typeof validate>[0], {
    resolve: { external: false, file: false },
    dereference: { circular: 'ignore' }
  }).catch((cause: unknown) => {
    throw refuse(
      'The OpenAPI document could not be checked: a reference in it leads nowhere, or to another file.',
      cause
    )
  })
  if (!checked.valid) {
    const why = compileErrors(checked).replaceAll(/\s+/g, ' ').trim().slice(0, PROBLEM_CHARS_MAX)
    throw refuse(`The OpenAPI document is not valid. ${why}`)
  }
  return { version, root }
}

function parsed(text: string): JsonObject {
  let root: unknown
  try {
    root = /^\s*\{/.test(text) ? JSON.parse(text) : plain(load(text))
  } catch (cause) {
    throw refuse('The OpenAPI document is neither JSON nor YAML.', cause)
  }
  if (!isObject(root)) throw refuse('What was given as OpenAPI document is none.')
  return root
}

/** YAML has dates, anchors and cycles; JSON does not. What is repeated by anchors counts as often as it is repeated. */
function plain(value: unknown): unknown {
  let nodes = 0
  const json = JSON.stringify(value, (_key, node: unknown) => {
    if (++nodes > OPENAPI_NODES_MAX) throw new Error('too large once its anchors are resolved')
    return node
  })
  return JSON.parse(json)
}

function versionOf({ swagger, openapi }: JsonObject): OpenapiDocument['version'] {
  if (swagger === '2.0') return '2.0'
  const match = typeof openapi === 'string' ? /^3\.([01])\.\d+/.exec(openapi) : null
  if (match !== null) return match[1] === '0' ? '3.0' : '3.1'
  throw refuse('The document must be OpenAPI 3.0 or 3.1, or Swagger 2.0.')
}

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { cause })
}
