import { isSoukError, SoukError } from '../../../lib/base/errors.ts'
import {
  OPENAPI_BYTES_MAX,
  OPENAPI_CHARS_MAX,
  OPENAPI_NESTING_MAX,
  OPENAPI_NODES_MAX
} from '../../../lib/base/limits/rest.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { References } from './openapi-references.ts'
import { type OpenapiVersion, problemOf } from './openapi-specification.ts'
import { parsedText, tooDeep } from './openapi-text.ts'

/** The text of a document, and those of other files that it refers to. */
export interface OpenapiTexts {
  readonly text: string
  /** Address of the document. References are relative to it. Default: an address that nothing else has. */
  readonly url?: string
  /** The other files by address. */
  readonly files?: Readonly<Record<string, string>>
}

export interface OpenapiDocument {
  readonly version: OpenapiVersion
  readonly root: JsonObject
  readonly references: References
  /** The first violation of the specification. The document is read in spite of it. */
  readonly violation: string | undefined
}

/**
 * Reads an OpenAPI document (3.0, 3.1, 3.2, or 2.0, formerly Swagger) in JSON or YAML. References are resolved but never expanded,
 * because forty short schemas could expand to a billion.
 *
 * @throws SoukError `invalid_request` with the problem
 */
export function readOpenapi(texts: OpenapiTexts): OpenapiDocument {
  const references = readReferences(texts)
  const { root } = references
  const version = versionOf(root)
  return { version, root, references, violation: problemOf(version, root) }
}

/** Reads the files without the rules of OpenAPI. @throws SoukError `invalid_request` */
export function readReferences({ text, url = 'file:///', files = {} }: OpenapiTexts): References {
  const bytes = [text, ...Object.values(files)].reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  if (bytes > OPENAPI_BYTES_MAX) {
    throw refuse(
      `The OpenAPI document has ${bytes} bytes, and the limit is ${OPENAPI_BYTES_MAX}. Remove examples, or split it into several APIs.`
    )
  }
  const root = parsed(text)
  if (!isObject(root)) throw refuse('The OpenAPI document is not a JSON or YAML object.')
  const others = new Map<string, unknown>()
  const unreadable: string[] = []
  for (const [address, other] of Object.entries(files)) {
    if (address === url) continue
    try {
      others.set(address, parsed(other))
    } catch (error) {
      if (!isSoukError(error)) throw error
      unreadable.push(`${shortName(address)} is left out: ${error.message}`)
    }
  }
  return new References(root, url, others, unreadable)
}

function shortName(address: string): string {
  return address.replace(/^file:\/\/\//, '').slice(0, 200)
}

function parsed(text: string): unknown {
  const value = parsedText(text)
  checkSize(value)
  // Converts values of YAML that JSON lacks, such as anchors, which would otherwise share one object.
  return JSON.parse(JSON.stringify(value)) as unknown
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

/** @throws SoukError `invalid_request` for another kind of document */
export function versionOf({ swagger, openapi }: JsonObject): OpenapiVersion {
  if (String(swagger) === '2' || swagger === '2.0') return '2.0'
  const match = /^3(?:\.(\d+))?(?:\.|$)/.exec(String(openapi))
  if (match !== null) {
    const minor = Number(match[1] ?? 0)
    return minor === 0 ? '3.0' : minor === 1 ? '3.1' : '3.2'
  }
  throw refuse(
    'The document must be OpenAPI 3, or Swagger 2.0: it needs a member "openapi" or "swagger" with its version.'
  )
}

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { cause })
}
