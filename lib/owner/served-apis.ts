import type { ApiId } from '../base/api-name.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import type { ServedApi } from './served-api.ts'

/** The APIs that this node serves, and how many calls of each are running. An adapter closes after its last call. */
export class ServedApis {
  readonly #apis = new Map<ApiId, ServedApi>()
  /** Number of running calls, of served APIs and of replaced or removed ones. */
  readonly #load = new Map<ServedApi, number>()
  #drained: PromiseWithResolvers<void> | undefined
  /** Undefined: made by the next reader, because each outgoing call reads them. */
  #manifests: readonly SignedManifest[] | undefined
  #inFlight = 0

  get inFlight(): number {
    return this.#inFlight
  }

  inFlightOf(api: ServedApi): number {
    return this.#load.get(api) ?? 0
  }

  /** Serves an API, and replaces an earlier one with the same id. Running calls continue with the earlier one. */
  async set(api: ServedApi): Promise<void> {
    const before = this.#apis.get(api.signed.id)
    this.#apis.set(api.signed.id, api)
    this.#manifests = undefined
    if (before !== undefined) await this.#closeUnused(before)
  }

  get(id: ApiId): ServedApi | undefined {
    return this.#apis.get(id)
  }

  async delete(id: ApiId): Promise<void> {
    const api = this.#apis.get(id)
    this.#apis.delete(id)
    this.#manifests = undefined
    if (api !== undefined) await this.#closeUnused(api)
  }

  list(): ServedApi[] {
    return [...this.#apis.values()]
  }

  manifests(): readonly SignedManifest[] {
    this.#manifests ??= this.list().map(({ signed }) => signed)
    return this.#manifests
  }

  /** Accepts no more calls. Resolves when the running ones have ended. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    if (this.#inFlight === 0) this.#drained.resolve()
    return this.#drained.promise
  }

  get isDraining(): boolean {
    return this.#drained !== undefined
  }

  /** Counts a call until `leave`. */
  enter(api: ServedApi): void {
    this.#load.set(api, this.inFlightOf(api) + 1)
    this.#inFlight++
  }

  leave(api: ServedApi): void {
    this.#inFlight--
    const left = this.inFlightOf(api) - 1
    if (left > 0) {
      this.#load.set(api, left)
    } else {
      this.#load.delete(api)
      if (this.#apis.get(api.signed.id) !== api) void this.#closeUnused(api).catch(() => {})
    }
    if (this.#inFlight === 0) this.#drained?.resolve()
  }

  /** Closes the adapter of a replaced or removed API after its last call. */
  async #closeUnused({ adapter }: ServedApi): Promise<void> {
    const usedBy = [...this.#apis.values(), ...this.#load.keys()]
    if (!usedBy.some((api) => api.adapter === adapter)) await adapter.close?.()
  }
}
