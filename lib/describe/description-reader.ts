import type { ApiId } from '../base/api-name.ts'
import { boundedMap } from '../base/bounded-map.ts'
import { type Clock, nextTurn } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import {
  DESCRIBED_SCHEMA_BYTES_MAX,
  DESCRIPTION_TURN_BYTES,
  DESCRIPTIONS_ASSEMBLED_AT_ONCE,
  DESCRIPTIONS_PARSED_MAX,
  DESCRIPTIONS_PEERS_MAX,
  DESCRIPTIONS_PER_PEER_MAX,
  DESCRIPTIONS_WANTED_MAX,
  LISTING_DESCRIPTION_BYTES_MAX,
  OPERATIONS_PER_PAGE,
  SDL_PART_BYTES_MAX,
  SDL_PARTS_MAX
} from '../base/limits/descriptions.ts'
import { Slots } from '../base/slots.ts'
import { LRUCache } from 'lru-cache'
import type { ApiDescription, JsonSchema, Operation } from '../interface/adapter.ts'
import type { DescribedOptions, Descriptions, OperationRange } from '../interface/description.ts'
import type { OperationSummary } from '../interface/operation-summary.ts'
import type { DescriptionRoot } from '../interface/published-api.ts'
import type { Resolution } from '../interface/directory.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import { fetchDocuments } from './description-exchange.ts'
import type { DocumentShelf } from './document-shelf.ts'
import { summaryOf } from './document-set.ts'
import { layoutOf, type OperationDocument, readOperation, readPage, readPart } from './documents.ts'
import { directReferences, type SharedSchema, selfContained } from './references.ts'

export interface DescriptionReaderInit {
  readonly link: Link
  readonly shelf: DocumentShelf
  readonly clock: Clock
  /** Peer that sent this node the manifest, where it is known. */
  readonly sourceOf: (id: ApiId) => Promise<string | undefined>
}

/** Documents under one root, and the peers that may have them. */
interface Source {
  readonly described: DescriptionRoot
  readonly peers: () => AsyncIterable<PeerAddress>
}

type Documents = ReadonlyMap<number, Uint8Array>

/** Parsed pages of one description. */
type Pages = ReadonlyArray<OperationSummary>

export class DescriptionReader implements Descriptions {
  readonly #init: DescriptionReaderInit
  readonly #pages = new LRUCache<string, Pages>({ max: DESCRIPTIONS_PARSED_MAX })
  /** Parsed schemas take several times the memory of their documents. */
  readonly #assembling = new Slots(DESCRIPTIONS_ASSEMBLED_AT_ONCE)
  readonly #slots = boundedMap<string, Slots>(DESCRIPTIONS_PEERS_MAX)

  constructor(init: DescriptionReaderInit) {
    this.#init = init
  }

  async operations(
    api: Resolution,
    { from = 0, limit = Number.POSITIVE_INFINITY }: OperationRange,
    signal: AbortSignal
  ): Promise<readonly OperationSummary[]> {
    const { api: published } = api.signed.manifest
    const { described } = published
    if (described === undefined) return published.operations.slice(from, from + limit).map(summaryOf)
    const known = this.#pages.get(described.root)
    if (known !== undefined) return known.slice(from, from + limit)
    const { operations } = described
    const end = Math.min(operations, from + limit)
    if (from >= end) return []
    const first = Math.floor(from / OPERATIONS_PER_PAGE)
    const leaves = range(first, Math.ceil(end / OPERATIONS_PER_PAGE))
    const documents = await this.#documents(this.#sourceOf(api, described), leaves, signal)
    const read = await this.#read(
      leaves.map((leaf) => found(documents, leaf)),
      (bytes, at) => readPage(bytes, Math.min(OPERATIONS_PER_PAGE, operations - (first + at) * OPERATIONS_PER_PAGE))
    )
    const pages = read.flat()
    if (pages.length === operations) this.#pages.set(described.root, pages)
    const start = from - first * OPERATIONS_PER_PAGE
    return pages.slice(start, start + end - from)
  }

  async described(
    api: Resolution,
    names: readonly string[],
    { signal, bytesMax = DESCRIBED_SCHEMA_BYTES_MAX, isInputOnly = false }: DescribedOptions
  ): Promise<readonly Operation[]> {
    const { api: published } = api.signed.manifest
    const { described } = published
    if (described === undefined) {
      const byName = new Map(published.operations.map((operation) => [operation.name, operation]))
      return names.flatMap((name) => byName.get(name) ?? [])
    }
    const summaries = await this.operations(api, {}, signal)
    const { pages } = layoutOf(described)
    const wanted = new Set(names)
    const leafOf = new Map<string, number>()
    for (const [at, { name }] of summaries.entries())
      if (wanted.has(name) && !leafOf.has(name)) leafOf.set(name, pages + at)
    const source = this.#sourceOf(api, described)
    const documents = await this.#documents(source, [...leafOf.values()], signal)
    const known = names.flatMap((name) => documents.get(leafOf.get(name) ?? -1) ?? [])
    const found = await this.#read(known, (bytes) => readOperation(bytes, described))
    const leaves = found.flatMap(({ parts }) => (isInputOnly ? parts.input : [...parts.input, ...parts.output]))
    const parts = await this.#documents(source, [...new Set(leaves)], signal)
    const leave = await this.#assembling.enter(signal)
    try {
      const operations: Operation[] = []
      for (const operation of found) {
        operations.push(await this.#assembled(operation, parts, bytesMax, isInputOnly))
        await nextTurn(this.#init.clock)
      }
      return operations
    } finally {
      leave()
    }
  }

  async whole(api: Resolution, signal: AbortSignal, bytesMax = LISTING_DESCRIPTION_BYTES_MAX): Promise<ApiDescription> {
    const { api: published } = api.signed.manifest
    const { described } = published
    if (described === undefined) return published
    const { operations: _, described: __, ...rest } = published
    const { pages, firstSdl, firstPart, end } = layoutOf(described)
    const [own, shared] = [range(pages, firstSdl), range(firstPart, end)]
    const documents = await this.#documents(this.#sourceOf(api, described), [...own, ...shared], signal, bytesMax)
    const bytesOf = (leaves: readonly number[]) => leaves.map((leaf) => found(documents, leaf))
    const operations = await this.#read(bytesOf(own), (bytes) => {
      const { parts: _parts, ...operation } = readOperation(bytes, described)
      return operation
    })
    const parts = await this.#read(bytesOf(shared), readPart)
    return { ...rest, operations, definitions: Object.fromEntries(parts.map(({ name, schema }) => [name, schema])) }
  }

  async sdl(api: Resolution, signal: AbortSignal): Promise<string | undefined> {
    const { api: published } = api.signed.manifest
    const { described } = published
    if (described === undefined) return published.sdl
    if (described.sdlParts === 0) return undefined
    const { firstSdl, firstPart } = layoutOf(described)
    const leaves = range(firstSdl, firstPart)
    const bytesMax = SDL_PARTS_MAX * SDL_PART_BYTES_MAX
    const documents = await this.#documents(this.#sourceOf(api, described), leaves, signal, bytesMax)
    return Buffer.concat(leaves.map((leaf) => found(documents, leaf))).toString('utf8')
  }

  /** An operation with those of its shared schemas that fit. Only these are parsed. */
  async #assembled(
    { parts: leaves, ...operation }: OperationDocument,
    documents: Documents,
    bytesMax: number,
    isInputOnly: boolean
  ): Promise<Operation> {
    const whole = async (schema: JsonSchema | undefined, needed: readonly number[]) => {
      if (schema === undefined) return undefined
      let bytes = JSON.stringify(schema).length
      if (bytes > bytesMax) return {}
      const fitting: Uint8Array[] = []
      for (const document of needed.map((leaf) => found(documents, leaf))) {
        if (bytes + document.length > bytesMax) continue
        bytes += document.length
        fitting.push(document)
      }
      const shared = await this.#read(fitting, (document): [string, SharedSchema] => {
        const { name, schema } = readPart(document)
        return [name, { schema, references: directReferences(schema) }]
      })
      return selfContained(schema, new Map(shared))
    }
    const { input, output, ...rest } = operation
    const takes = await whole(input, leaves.input)
    const gives = isInputOnly ? undefined : await whole(output, leaves.output)
    return { ...rest, ...(takes && { input: takes }), ...(gives && { output: gives }) }
  }

  /** Parses documents with pauses, so that calls are not delayed. */
  async #read<T>(documents: readonly Uint8Array[], read: (bytes: Uint8Array, at: number) => T): Promise<T[]> {
    const values: T[] = []
    let bytes = 0
    for (const [at, document] of documents.entries()) {
      values.push(read(document, at))
      bytes += document.length
      if (bytes < DESCRIPTION_TURN_BYTES) continue
      bytes = 0
      await nextTurn(this.#init.clock)
    }
    return values
  }

  /** The owners first, then the peer that sent the manifest. */
  #sourceOf({ signed, owners }: Resolution, described: DescriptionRoot): Source {
    const { link, sourceOf } = this.#init
    return {
      described,
      async *peers() {
        const others = owners.filter(({ id }) => id !== link.self)
        yield* others
        const sender = await sourceOf(signed.id)
        if (sender !== undefined && sender !== link.self && others.every(({ id }) => id !== sender)) {
          yield { id: sender, addresses: [] }
        }
      }
    }
  }

  /**
   * All of these documents, from this node or its peers.
   * @throws SoukError `owner_unreachable`, `response_too_large`
   */
  async #documents(
    { described, peers }: Source,
    leaves: readonly number[],
    signal: AbortSignal,
    bytesMax = LISTING_DESCRIPTION_BYTES_MAX
  ): Promise<Documents> {
    const { shelf } = this.#init
    const documents = new BoundedDocuments(bytesMax)
    for (const leaf of leaves) {
      const document = shelf.document(described.root, leaf)
      if (document !== undefined) documents.set(leaf, document)
    }
    if (documents.size === leaves.length) return documents
    let problem: SoukError | undefined
    for await (const peer of peers()) {
      try {
        await this.#fetch(peer, described, leaves, documents, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (documents.isFull) throw error
        problem ??= asSoukError(error)
      }
      if (documents.size === leaves.length) return documents
    }
    const why = 'No node supplied the description of this API. Try again later.'
    throw new SoukError('owner_unreachable', why, problem === undefined ? {} : { cause: problem })
  }

  /** Requests what is missing, until the peer supplies nothing more. */
  async #fetch(
    peer: PeerAddress,
    described: DescriptionRoot,
    leaves: readonly number[],
    documents: BoundedDocuments,
    signal: AbortSignal
  ): Promise<void> {
    const { link, shelf } = this.#init
    const leave = await this.#slotsOf(peer).enter(signal)
    try {
      for (;;) {
        const missing = leaves.filter((leaf) => !documents.has(leaf)).slice(0, DESCRIPTIONS_WANTED_MAX)
        if (missing.length === 0) return
        const proven = await fetchDocuments(link, peer, described, missing, signal)
        for (const each of proven) {
          shelf.keep(described.root, each)
          documents.set(each.leaf, each.document)
        }
        if (proven.length === 0) return
      }
    } finally {
      leave()
    }
  }

  #slotsOf({ id }: PeerAddress): Slots {
    const slots = this.#slots.get(id) ?? new Slots(DESCRIPTIONS_PER_PEER_MAX)
    this.#slots.set(id, slots)
    return slots
  }
}

/** Documents of a limited size: a provider decides how many and how large they are. */
class BoundedDocuments extends Map<number, Uint8Array> {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    super()
    this.#bytesMax = bytesMax
  }

  get isFull(): boolean {
    return this.#bytes > this.#bytesMax
  }

  /** @throws SoukError `response_too_large` */
  override set(leaf: number, document: Uint8Array): this {
    if (!this.has(leaf)) this.#bytes += document.length
    if (!this.isFull) return super.set(leaf, document)
    const why = `The description of this API is larger than ${this.#bytesMax} bytes, which is the limit.`
    throw new SoukError('response_too_large', why)
  }
}

function found(documents: Documents, leaf: number): Uint8Array {
  const document = documents.get(leaf)
  if (document === undefined) throw new SoukError('internal_error')
  return document
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
