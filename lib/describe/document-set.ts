import { utf8 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { toHex } from '../base/hex.ts'
import {
  DESCRIBED_PARTS_MAX,
  DESCRIPTION_DOCUMENT_BYTES_MAX,
  DESCRIPTION_TURN_BYTES,
  DESCRIPTION_DOCUMENTS_MAX,
  INLINE_DESCRIPTION_BYTES_MAX,
  INLINE_NAMES_BYTES_MAX,
  LISTING_DESCRIPTION_BYTES_MAX,
  OPERATIONS_PER_PAGE,
  SDL_PART_BYTES_MAX,
  SDL_PARTS_MAX,
  SUMMARY_CHARS_MAX
} from '../base/limits/descriptions.ts'
import { OPERATIONS_MAX } from '../base/limits/names.ts'
import type { ApiDescription, JsonSchema, Operation } from '../interface/adapter.ts'
import type { OperationSummary } from '../interface/operation-summary.ts'
import type { PublishedApi } from '../interface/published-api.ts'
import { CONTROLS, isName, type OperationDocument } from './documents.ts'
import { merkleTree, type MerkleTree } from './merkle.ts'
import { directReferences, ReferenceGraph } from './references.ts'

/** The documents of one API, with their tree. */
export interface DocumentSet {
  readonly documents: readonly Uint8Array[]
  readonly tree: MerkleTree
}

export interface Published {
  readonly api: PublishedApi
  /** Absent where the manifest holds the whole description. */
  readonly set?: DocumentSet
}

/**
 * The published form of an adapter's description: inside the manifest where it is small, else as documents under a root.
 * Deterministic, so that the same description keeps its manifest.
 * @throws SoukError `invalid_request`
 */
export async function published(description: ApiDescription, clock: Pick<Clock, 'soon'>): Promise<Published> {
  const { definitions, ...api } = description
  if (definitions === undefined && isSmall(description)) return { api }
  checkNames(api.operations)
  const documents = await new DocumentWriter(description).write(
    () =>
      new Promise((resolve) => {
        clock.soon(resolve)
      })
  )
  const tree = merkleTree(documents.all)
  const { sdl: _, operations, ...rest } = api
  const names = operations.map(({ name }) => ({ name }))
  const isListed = utf8(JSON.stringify(names)).length <= INLINE_NAMES_BYTES_MAX
  const described = {
    root: toHex(tree.root),
    documents: documents.all.length,
    operations: operations.length,
    sdlParts: documents.sdlParts
  }
  return {
    api: { ...rest, operations: isListed ? names : [], described },
    set: { documents: documents.all, tree }
  }
}

function isSmall({ operations, sdl = '' }: ApiDescription): boolean {
  let bytes = sdl.length
  for (const operation of operations) {
    if (bytes > INLINE_DESCRIPTION_BYTES_MAX) return false
    bytes += utf8(JSON.stringify(operation)).length
  }
  return bytes <= INLINE_DESCRIPTION_BYTES_MAX
}

function checkNames(operations: readonly Operation[]): void {
  const names = new Set(operations.map(({ name }) => name))
  if (names.size !== operations.length) throw invalid('two of its operations have the same name')
  if (operations.length > OPERATIONS_MAX) throw invalid(`it has more than ${OPERATIONS_MAX} operations`)
  for (const name of names) {
    if (!isName(name)) throw invalid('an operation has an empty or too long name, or control characters in it')
  }
}

const invalid = (why: string) => new SoukError('invalid_request', `The description is invalid: ${why}.`)

class DocumentWriter {
  readonly #description: ApiDescription
  readonly #definitions: Readonly<Record<string, JsonSchema>>
  /** Names that each shared schema refers to. */
  readonly #references = new Map<string, readonly string[]>()
  readonly #partNames: readonly string[]
  #bytesLeft = LISTING_DESCRIPTION_BYTES_MAX

  constructor(description: ApiDescription) {
    const { definitions = {} } = description
    this.#description = description
    this.#definitions = definitions
    this.#partNames = Object.keys(definitions)
  }

  /** @param pause - between documents, so that calls are not delayed */
  async write(pause: () => Promise<void>): Promise<{ all: Uint8Array[]; sdlParts: number }> {
    const { operations, sdl } = this.#description
    const pages = this.#pages()
    const sdlParts = sdl === undefined ? [] : this.#sdlParts(sdl)
    const firstPart = pages.length + operations.length + sdlParts.length
    const parts: Uint8Array[] = []
    const leaves: Array<number | undefined> = []
    let unpaused = 0
    for (const name of this.#partNames) {
      const part = this.#partOf(name)
      unpaused += part?.length ?? DESCRIPTION_DOCUMENT_BYTES_MAX
      if (unpaused >= DESCRIPTION_TURN_BYTES) {
        unpaused = 0
        await pause()
      }
      if (part === undefined) continue
      const leaf = firstPart + parts.length
      const isKept = leaf < DESCRIPTION_DOCUMENTS_MAX
      leaves.push(isKept ? leaf : undefined)
      if (isKept) parts.push(part)
    }
    const graph = new ReferenceGraph(this.#references)
    const leavesOf = (schema: JsonSchema | undefined) =>
      schema === undefined ? [] : graph.neededBy(schema, DESCRIBED_PARTS_MAX).flatMap((number) => leaves[number] ?? [])
    const described: Uint8Array[] = []
    for (const operation of operations) {
      // An operation may need all schemas.
      await pause()
      described.push(this.#operation(operation, leavesOf))
    }
    return { all: [...pages, ...described, ...sdlParts, ...parts], sdlParts: sdlParts.length }
  }

  #pages(): Uint8Array[] {
    const { operations } = this.#description
    const summaries = operations.map(summaryOf)
    const pages: Uint8Array[] = []
    for (let at = 0; at < summaries.length; at += OPERATIONS_PER_PAGE) {
      pages.push(json({ operations: summaries.slice(at, at + OPERATIONS_PER_PAGE) }))
    }
    return pages
  }

  /** Undefined where it would exceed a limit. A reader then accepts anything in its place. */
  #partOf(name: string): Uint8Array | undefined {
    const schema = this.#definitions[name] ?? {}
    const bytes = json({ name, schema })
    if (bytes.length > DESCRIPTION_DOCUMENT_BYTES_MAX || !this.#spend(bytes.length)) return undefined
    this.#references.set(name, directReferences(schema))
    return bytes
  }

  /** The whole operation if it fits, else without its output, without its input, and without documentation. */
  #operation(operation: Operation, leavesOf: (schema: JsonSchema | undefined) => number[]): Uint8Array {
    const { name, description, input, output } = operation
    const text = description?.replaceAll(CONTROLS, ' ')
    const whole: Operation = {
      name,
      ...(text === undefined ? {} : { description: text }),
      ...(input === undefined ? {} : { input }),
      ...(output === undefined ? {} : { output })
    }
    const { output: _, ...noOutput } = whole
    const { input: __, ...noSchemas } = noOutput
    const candidates: readonly Operation[] = [whole, noOutput, noSchemas]
    for (const candidate of candidates) {
      const parts = { input: leavesOf(candidate.input), output: leavesOf(candidate.output) }
      const bytes = json({ ...candidate, parts } satisfies OperationDocument)
      if (bytes.length <= DESCRIPTION_DOCUMENT_BYTES_MAX && this.#spend(bytes.length)) return bytes
    }
    return json({ name, parts: { input: [], output: [] } } satisfies OperationDocument)
  }

  /** @throws SoukError `invalid_request` */
  #sdlParts(sdl: string): Uint8Array[] {
    const bytes = utf8(sdl)
    const parts: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      let end = Math.min(at + SDL_PART_BYTES_MAX, bytes.length)
      // A character is never cut: continuation bytes are 10xxxxxx.
      while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
      parts.push(bytes.slice(at, end))
      at = end
    }
    if (parts.length > SDL_PARTS_MAX) throw invalid('its SDL is too large')
    return parts
  }

  #spend(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false
    this.#bytesLeft -= bytes
    return true
  }
}

/** The first line that is not empty, without control characters. */
export function summaryOf({ name, description = '' }: Operation): OperationSummary {
  const line = description.split('\n').find((each) => each.trim() !== '') ?? ''
  const plain = line.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  if (plain === '') return { name }
  return {
    name,
    summary: plain.length > SUMMARY_CHARS_MAX ? `${plain.slice(0, SUMMARY_CHARS_MAX - 1).toWellFormed()}…` : plain
  }
}

const json = (value: object): Uint8Array => utf8(JSON.stringify(value))
