import { LRUCache } from 'lru-cache'
import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import type { Hex } from '../base/hex.ts'
import { DESCRIPTIONS_CACHE_BYTES_MAX } from '../base/limits/descriptions.ts'
import type { ApiDescription } from '../interface/adapter.ts'
import type { PublishedApi } from '../interface/published-api.ts'
import type { ProvenDocument } from './description-codec.ts'
import { type DocumentSet, published } from './document-set.ts'

/** Bytes of a cache entry besides its document: keys, hashes and objects. */
const ENTRY_BYTES = 1_024

interface ServedSet {
  readonly root: Hex
  readonly set: DocumentSet
}

/** Sets kept of one API: peers may still have the manifest before. */
const SETS_KEPT = 2

/** The documents that this node can supply: those of the APIs it serves, and the cached ones of others. */
export class DocumentShelf {
  readonly #clock: Pick<Clock, 'soon'>
  /** The newest set first. */
  readonly #served = new Map<ApiId, readonly ServedSet[]>()
  /** The same sets. Two APIs may have the same root. */
  #byRoot: ReadonlyMap<Hex, DocumentSet> = new Map()
  readonly #cached = new LRUCache<string, ProvenDocument>({
    maxSize: DESCRIPTIONS_CACHE_BYTES_MAX,
    sizeCalculation: ({ document }) => document.length + ENTRY_BYTES
  })

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock
  }

  /**
   * Publishes the description of a served API. Its earlier one can still be read until the next.
   * @throws SoukError `invalid_request`
   */
  async publish(id: ApiId, description: ApiDescription): Promise<PublishedApi> {
    const { api, set } = await published(description, this.#clock)
    const { described } = api
    if (set !== undefined && described !== undefined) {
      const others = (this.#served.get(id) ?? []).filter(({ root }) => root !== described.root)
      this.#served.set(id, [{ root: described.root, set }, ...others].slice(0, SETS_KEPT))
      this.#index()
    }
    return api
  }

  /** The API is no longer served. */
  forget(id: ApiId): void {
    this.#served.delete(id)
    this.#index()
  }

  #index(): void {
    this.#byRoot = new Map([...this.#served.values()].flat().map(({ root, set }) => [root, set]))
  }

  get(root: Hex, leaf: number): ProvenDocument | undefined {
    const set = this.#byRoot.get(root)
    const document = set?.documents[leaf]
    if (set === undefined || document === undefined) return this.#cached.get(keyOf(root, leaf))
    return { leaf, document, path: set.tree.path(leaf) }
  }

  /** The content alone, without the cost of a proof. */
  document(root: Hex, leaf: number): Uint8Array | undefined {
    return this.#byRoot.get(root)?.documents[leaf] ?? this.#cached.get(keyOf(root, leaf))?.document
  }

  /** Caches a document that was checked against its root. */
  keep(root: Hex, { leaf, document, path }: ProvenDocument): void {
    // Copied, because views would keep the whole reply in memory.
    this.#cached.set(keyOf(root, leaf), { leaf, document: document.slice(), path: path.map((hash) => hash.slice()) })
  }
}

const keyOf = (root: Hex, leaf: number): string => `${root}/${leaf}`
