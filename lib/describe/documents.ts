import { text } from '../base/bytes.ts'
import { SoukError } from '../base/errors.ts'
import { checkJson } from '../base/json-text.ts'
import {
  DESCRIBED_PARTS_MAX,
  OPERATIONS_PER_PAGE,
  SUMMARY_CHARS_MAX,
  SUMMARIZED_NAME_CHARS_MAX
} from '../base/limits/descriptions.ts'
import type { JsonSchema } from '../interface/adapter.ts'
import type { OperationSummary } from '../interface/operation-summary.ts'
import type { DescriptionRoot } from '../interface/published-api.ts'

/** The documents under a root as JSON (docs/reference/protocol.md). The provider's peers may send anything, so each reader checks. */

/** One operation. `parts` are the leaves of all shared schemas that a schema needs, nearest first. */
export interface OperationDocument {
  readonly name: string
  readonly description?: string
  readonly input?: JsonSchema
  readonly output?: JsonSchema
  readonly parts: { readonly input: readonly number[]; readonly output: readonly number[] }
}

/** A shared schema. Operations and other parts refer to it as `#/$defs/<name>`. */
export interface PartDocument {
  readonly name: string
  readonly schema: JsonSchema
}

/** Leaf numbers of each kind of document. */
export function layoutOf({ operations, sdlParts, documents }: DescriptionRoot) {
  const pages = Math.ceil(operations / OPERATIONS_PER_PAGE)
  const sdl = pages + operations
  return { pages, firstSdl: sdl, firstPart: sdl + sdlParts, end: documents }
}

/** @throws SoukError `invalid_request` */
export function readPage(bytes: Uint8Array, entries: number): OperationSummary[] {
  const { operations } = object(bytes)
  must(Array.isArray(operations) && operations.length === entries, 'a page has another number of operations')
  return (operations as unknown[]).map((each) => {
    must(isObject(each), 'an entry of a page is no object')
    const { name, summary } = each
    must(isName(name), 'an operation has no valid name')
    must(summary === undefined || isLine(summary, SUMMARY_CHARS_MAX), 'a summary is not one short line')
    return { name, ...(summary === undefined ? {} : { summary }) }
  })
}

/** @throws SoukError `invalid_request` */
export function readOperation(bytes: Uint8Array, root: DescriptionRoot): OperationDocument {
  const { name, description, input, output, parts } = object(bytes)
  must(isName(name), 'an operation has no valid name')
  must(description === undefined || typeof description === 'string', 'a description is no text')
  must(input === undefined || isObject(input), 'a schema is no object')
  must(output === undefined || isObject(output), 'a schema is no object')
  const needed = isObject(parts) ? parts : {}
  return {
    name,
    ...(description === undefined ? {} : { description: description.replaceAll(CONTROLS, ' ') }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    parts: { input: leaves(needed['input'], root), output: leaves(needed['output'], root) }
  }
}

/** @throws SoukError `invalid_request` */
export function readPart(bytes: Uint8Array): PartDocument {
  const { name, schema } = object(bytes)
  must(typeof name === 'string' && isObject(schema), 'a shared schema has no name or is no object')
  return { name, schema }
}

function leaves(value: unknown, root: DescriptionRoot): number[] {
  if (value === undefined) return []
  const { firstPart, end } = layoutOf(root)
  must(Array.isArray(value) && value.length <= DESCRIBED_PARTS_MAX, 'an operation names too many shared schemas')
  const all = new Set(value as unknown[])
  for (const leaf of all)
    must(Number.isInteger(leaf) && Number(leaf) >= firstPart && Number(leaf) < end, 'a leaf is out of range')
  return [...all] as number[]
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
/** Terminals and pages show these texts. */
// oxlint-disable-next-line no-control-regex
export const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

const isLine = (value: unknown, charsMax: number): value is string =>
  typeof value === 'string' && value.length <= charsMax && !CONTROL.test(value)

/** Owners check names by the same rule, because readers refuse a whole description for one name. */
export const isName = (value: unknown): value is string => value !== '' && isLine(value, SUMMARIZED_NAME_CHARS_MAX)

function object(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  must(checkJson(bytes) === 'object', 'a document is no JSON object')
  return JSON.parse(text(bytes)) as Readonly<Record<string, unknown>>
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new SoukError('invalid_request', `The description is invalid: ${otherwise}.`)
}
