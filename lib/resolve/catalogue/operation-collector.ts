import type { Logger } from '@libp2p/interface'
import { type ApiId, parseApiRef, type ApiRef } from '../../base/api-name.ts'
import { boundedMap } from '../../base/bounded-map.ts'
import { sha256, utf8 } from '../../base/bytes.ts'
import { type Clock, deadline, sleep, type Timer } from '../../base/clock.ts'
import { reasonOf, SILENT_LOG } from '../../base/component-log.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { type Hex, toHex } from '../../base/hex.ts'
import {
  CATALOGUE_CURSORS_MAX,
  CATALOGUE_DISTRUST_MS,
  CATALOGUE_MAX,
  OPERATIONS_FETCH_MS,
  OPERATIONS_FETCH_PAUSE_MS,
  OPERATIONS_FETCHED_AT_ONCE,
  OPERATIONS_PER_WRITE,
  OPERATIONS_RETRY_MS,
  OPERATIONS_SENDER_MS,
  OPERATIONS_SETTLE_MS,
  OPERATIONS_WRITE_PAUSE_MS
} from '../../base/limits/directory.ts'
import { fraction, type Random } from '../../base/random.ts'
import { within } from '../../base/within.ts'
import type { Descriptions } from '../../interface/description.ts'
import type { OperationSummary } from '../../interface/operation-summary.ts'
import type { Resolution } from '../../interface/directory.ts'
import type { IndexedListing, ListingIndex } from '../../interface/listing-index.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { ignore } from '../../base/ignore.ts'
import { storedManifest } from '../manifest/stored-manifest.ts'

export interface OperationCollectorInit {
  readonly index: Pick<ListingIndex, 'get' | 'undescribed' | 'hasOperations' | 'describe'>
  readonly descriptions: Pick<Descriptions, 'operations'>
  /** Finds the owners of an API. */
  readonly resolve: (api: ApiRef, options: { readonly signal: AbortSignal }) => Promise<Pick<Resolution, 'owners'>>
  readonly clock: Clock
  readonly random: Random
  readonly log?: Logger
}

/**
 * Indexes the operations of listings in the background, so that searches find them. Those of a large description are
 * fetched from the peer that sent the listing, else from an owner.
 */
export class OperationCollector {
  readonly #init: OperationCollectorInit
  readonly #log: Logger
  /** Listings that arrived just now come before those that a check found. */
  readonly #fresh = new Set<ApiId>()
  readonly #old = new Set<ApiId>()
  readonly #running = new Set<ApiId>()
  /** Ids that were added to `#fresh` and are not indexed yet. */
  readonly #awaited = new Set<ApiId>()
  /** Providers that are not asked before this time: their pages were invalid, or no peer supplied them. */
  readonly #heldUntil = boundedMap<string, number>(CATALOGUE_CURSORS_MAX)
  #workers = 0
  #timer: Timer | undefined
  #stopping: AbortController | undefined
  readonly #onIdle = new Set<() => void>()

  constructor(init: OperationCollectorInit) {
    this.#init = init
    this.#log = init.log ?? SILENT_LOG
  }

  start(): void {
    this.#stopping = new AbortController()
    this.#check()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#stopping?.abort(new SoukError('internal_error', 'The node stops.'))
    this.#stopping = undefined
    for (const queue of [this.#fresh, this.#old, this.#awaited]) queue.clear()
  }

  /** The index has a new manifest of these listings. */
  want(ids: readonly ApiId[]): void {
    if (this.#stopping === undefined) return
    for (const id of ids) {
      if (this.#fresh.size >= CATALOGUE_MAX) break
      this.#fresh.add(id)
      this.#awaited.add(id)
    }
    this.#work()
  }

  /** Resolves when the operations of the newest listings are indexed, or after `OPERATIONS_SETTLE_MS`. */
  async settled(signal: AbortSignal): Promise<void> {
    if (this.#awaited.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle.add(resolve)
    const late = this.#init.clock.after(OPERATIONS_SETTLE_MS, resolve)
    try {
      await within(promise, signal)
    } finally {
      late.cancel()
      this.#onIdle.delete(resolve)
    }
  }

  #check(): void {
    const { index, clock } = this.#init
    void index
      .undescribed(clock.now())
      .then((ids) => {
        for (const id of ids) this.#old.add(id)
        this.#work()
      })
      .catch(ignore)
    this.#timer = clock.after(OPERATIONS_RETRY_MS, () => this.#check())
  }

  #work(): void {
    const signal = this.#stopping?.signal
    if (signal === undefined) return
    while (this.#workers < OPERATIONS_FETCHED_AT_ONCE) {
      const id = this.#next()
      if (id === undefined) return
      this.#workers++
      void this.#worker(id, signal)
    }
  }

  async #worker(first: ApiId, signal: AbortSignal): Promise<void> {
    for (let id: ApiId | undefined = first; id !== undefined; id = signal.aborted ? undefined : this.#next()) {
      this.#running.add(id)
      let hasAsked = false
      try {
        hasAsked = await this.#index(id, signal)
      } catch (error) {
        this.#log('operations of %s are not indexed: %s', id, reasonOf(error))
      } finally {
        this.#running.delete(id)
        if (!this.#fresh.has(id)) this.#awaited.delete(id)
        if (this.#awaited.size === 0) for (const tell of this.#onIdle) tell()
      }
      if (hasAsked) await sleep(this.#init.clock, OPERATIONS_FETCH_PAUSE_MS, signal).catch(ignore)
    }
    this.#workers--
  }

  /** The next listing that no worker is indexing. One that is wanted again meanwhile waits for its worker. */
  #next(): ApiId | undefined {
    for (const queue of [this.#fresh, this.#old]) {
      for (const id of queue) {
        if (this.#running.has(id)) continue
        queue.delete(id)
        return id
      }
    }
    return undefined
  }

  /** Resolves to true where a peer was asked. */
  async #index(id: ApiId, signal: AbortSignal): Promise<boolean> {
    const { index, clock } = this.#init
    const listing = await index.get(id)
    if (listing === undefined) return false
    const signed = storedManifest(listing.envelope)
    const { provider, api } = signed.manifest
    const { described } = api
    if (described === undefined) {
      const operations = await this.#init.descriptions.operations({ signed, owners: [] }, {}, signal)
      const root = toHex(sha256(utf8(JSON.stringify(operations))))
      if (!(await index.hasOperations(id, listing.hash, root))) await this.#write(listing, root, operations, signal)
      return false
    }
    if (await index.hasOperations(id, listing.hash, described.root)) return false
    if (clock.elapsed() < (this.#heldUntil.get(provider) ?? -Infinity)) return false
    const limit = deadline(clock, OPERATIONS_FETCH_MS, () => new SoukError('lookup_timeout'), signal)
    try {
      const operations = await this.#fetch(listing, signed, limit.signal)
      await this.#write(listing, described.root, operations, signal)
    } catch (error) {
      const isInvalid = asSoukError(error).code === 'invalid_request'
      const pauseMs = isInvalid ? CATALOGUE_DISTRUST_MS : OPERATIONS_RETRY_MS
      if (!signal.aborted) this.#heldUntil.set(provider, clock.elapsed() + pauseMs)
      throw error
    } finally {
      limit.clear()
    }
    return true
  }

  /** A listing reaches all nodes within seconds. So its sender is asked before the owner, which would answer them all. */
  async #fetch(
    { id, source }: IndexedListing,
    signed: SignedManifest,
    signal: AbortSignal
  ): Promise<readonly OperationSummary[]> {
    const { descriptions, resolve, clock, random } = this.#init
    const ofSender = () => descriptions.operations({ signed, owners: [] }, {}, signal)
    try {
      return await ofSender()
    } catch (error) {
      signal.throwIfAborted()
      if (asSoukError(error).code === 'invalid_request') throw error
    }
    if (source !== undefined && source !== signed.manifest.provider) {
      await sleep(clock, OPERATIONS_SENDER_MS * fraction(random), signal)
      const later = await ofSender().catch(ignore)
      if (later !== undefined) return later
      signal.throwIfAborted()
    }
    const { owners } = await resolve(parseApiRef(id), { signal })
    return descriptions.operations({ signed, owners }, {}, signal)
  }

  async #write(
    { id, hash }: IndexedListing,
    root: Hex,
    all: readonly OperationSummary[],
    signal: AbortSignal
  ): Promise<void> {
    const { index, clock } = this.#init
    for (let from = 0; ; from += OPERATIONS_PER_WRITE) {
      const operations = all.slice(from, from + OPERATIONS_PER_WRITE)
      const isLast = from + OPERATIONS_PER_WRITE >= all.length
      if (!(await index.describe({ id, hash, root, from, operations, isLast }))) return
      await sleep(clock, OPERATIONS_WRITE_PAUSE_MS, signal)
    }
  }
}
