import type { Logger } from '@libp2p/interface'
import { type ApiId, type ApiRef, apiId, formatApiRef } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { inMs, reasonOf, SILENT_LOG } from '../base/component-log.ts'
import { isSoukError } from '../base/errors.ts'
import { RESOLUTIONS_BYTES_MAX } from '../base/limits/directory.ts'
import type { Random } from '../base/random.ts'
import type { Directory, Resolution, ResolveOptions, Resolver } from '../interface/directory.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import type { Documents } from '../interface/store.ts'
import { createOwnerChoice, type OwnerChoice } from './choose-owner.ts'
import { splitId } from './directory/keys.ts'
import { type Found, type LookUpInit, type LookUpOptions, lookUp } from './look-up.ts'
import type { LocalManifests } from './manifest/manifest-exchange.ts'
import { offline } from './not-found.ts'
import { createOwnerCache, type OwnerCache } from './owner-cache.ts'
import { createPins, type Pins } from './pins.ts'
import { conflict, describe, resolveName } from './resolve-name.ts'
import { ignore } from '../base/ignore.ts'
import { ALONE, type Joining, type LookupAttempt, repeatLookup } from './repeat-lookup.ts'

export interface ResolverInit {
  readonly directory: Directory
  readonly link: Link
  /** Store of the pins. */
  readonly documents: Documents
  /** Manifests that this node serves. They need no lookup. */
  readonly local: LocalManifests
  readonly clock: Clock
  readonly random: Random
  /**
   * Where other nodes are known, a directory without a response means that this node is offline. Default: a network of
   * one node.
   */
  readonly joining?: Joining
  /** The APIs of a name in the catalogue. Default: none. */
  readonly listed?: (name: string) => Promise<readonly ApiId[]>
  /** Receives each verified manifest, e.g. for the catalogue. */
  readonly learn?: (signed: SignedManifest) => void
  /** Default: none. */
  readonly log?: Logger
}

export interface PinningResolver extends Resolver {
  /** Binds a bare name to one provider. @throws SoukError `invalid_request` */
  pin(name: string, provider: string): Promise<void>
  /** The provider that a name is bound to. */
  pinned(name: string): Promise<string | undefined>
}

/** Creates the resolver on top of a directory and a link. */
export function createResolver(init: ResolverInit): PinningResolver {
  return new CachingResolver(init)
}

class CachingResolver implements PinningResolver {
  readonly #self: string
  readonly #local: LocalManifests
  readonly #learn: (signed: SignedManifest) => void
  readonly #joining: Joining
  readonly #pins: Pins
  readonly #choice: OwnerChoice
  readonly #lookUp: LookUpInit
  readonly #apis: OwnerCache<Found>
  readonly #names: OwnerCache<ApiId>
  readonly #log: Logger

  constructor({
    directory,
    link,
    documents,
    local,
    clock,
    random,
    listed = async () => [],
    learn = ignore,
    joining = ALONE,
    log = SILENT_LOG
  }: ResolverInit) {
    this.#self = link.self
    this.#log = log
    this.#local = local
    this.#learn = learn
    this.#joining = joining
    this.#pins = createPins(documents)
    this.#choice = createOwnerChoice({ clock, random })
    this.#lookUp = {
      directory,
      link,
      clock,
      pins: this.#pins,
      listed,
      log,
      hasOthers: () => joining.hasOthers,
      isConnected: () => joining.isConnected,
      onAsked: (peer, isThere) => (isThere ? this.#choice.answered(peer) : this.#choice.failed(peer))
    }
    this.#apis = createOwnerCache({
      clock,
      bytesMax: RESOLUTIONS_BYTES_MAX,
      bytesOf: ({ signed }) => signed.envelope.length,
      log
    })
    this.#names = createOwnerCache({ clock, bytesMax: RESOLUTIONS_BYTES_MAX, bytesOf: (id) => id.length, log })
  }

  cached(ref: ApiRef): Resolution | undefined {
    const id = this.#knownId(ref)
    // `resolve` writes to the log what it found.
    if (id === undefined || this.#log.enabled) return undefined
    for (const signed of this.#local()) if (signed.id === id) return undefined
    const found = this.#apis.fresh(id)
    return found && { signed: found.signed, owners: this.#inOrder(id, found) }
  }

  async resolve(ref: ApiRef, options: ResolveOptions): Promise<Resolution> {
    try {
      return await this.#resolve(ref, options)
    } catch (error) {
      const isLate = isSoukError(error) && error.code === 'lookup_timeout'
      throw isLate && this.#joining.hasOthers && !this.#joining.isConnected ? offline() : error
    }
  }

  async #resolve(ref: ApiRef, options: ResolveOptions): Promise<Resolution> {
    const id = ref.provider === undefined ? await this.#idOf(ref.name, options) : apiId(ref.name, ref.provider)
    for (const signed of this.#local()) {
      if (signed.id !== id) continue
      this.#log.trace('%s: served here', id)
      return { signed, owners: [{ id: this.#self, addresses: [] }] }
    }
    const { isForCall } = options
    const found = await this.#apis.get(id, (signal) => this.#find(id, { signal, isForCall }), options)
    const candidates = this.#inOrder(id, found)
    if (this.#log.enabled) {
      const ids = candidates.map((owner) => owner.id).join(' ')
      this.#log.trace('%s for %s: tried in this order: %s', id, formatApiRef(ref), ids)
    }
    return { signed: found.signed, owners: candidates }
  }

  report(id: ApiId, owner: string, outcome: { readonly ok: true; readonly ms: number } | { readonly ok: false }): void {
    if (outcome.ok) {
      this.#choice.worked(id, owner, outcome.ms)
      return
    }
    this.#choice.failed(owner)
    this.#apis.drop(id)
    this.#names.drop(splitId(id).name)
  }

  pin(name: string, provider: string): Promise<void> {
    return this.#pins.bind(name, provider)
  }

  pinned(name: string): Promise<string | undefined> {
    return this.#pins.provider(name)
  }

  #inOrder(id: ApiId, { owners, spares }: Found): readonly PeerAddress[] {
    if (owners.length < 2 && spares.length === 0) return owners
    return [...this.#choice.order(id, owners), ...spares]
  }

  /** As `#idOf`, without waiting. */
  #knownId({ name, provider }: ApiRef): ApiId | undefined {
    if (provider !== undefined) return apiId(name, provider)
    const pin = this.#pins.known(name)
    if (pin?.provider !== undefined) return apiId(name, pin.provider)
    for (const { manifest } of this.#local()) if (manifest.name === name) return undefined
    return pin && this.#names.fresh(name)
  }

  /** The id of a bare name: its pin, else the API served here, else the only claimant's. */
  async #idOf(name: string, options: ResolveOptions): Promise<ApiId> {
    const provider = await this.#pins.provider(name)
    if (provider !== undefined) return apiId(name, provider)
    const served = [...this.#local()].filter(({ manifest }) => manifest.name === name)
    if (served.length > 1) throw conflict(name, served.map(describe))
    return served[0]?.id ?? this.#findByName(name, options)
  }

  #findByName(name: string, options: ResolveOptions): Promise<ApiId> {
    return this.#names.get(name, (signal) => this.#findName(name, signal, options.isForCall), options)
  }

  async #findName(name: string, signal: AbortSignal, isForCall: boolean | undefined): Promise<ApiId> {
    const startedAt = this.#lookUp.clock.elapsed()
    const look = (init: LookUpInit, signal: AbortSignal) => resolveName(init, name, signal, isForCall)
    const { id, seeds } = await this.#repeat({ what: name, startedAt, isForCall }, look, signal)
    if (this.#log.enabled) this.#log('%s is %s (%s)', name, id, inMs(this.#lookUp.clock.elapsed() - startedAt))
    // Caches the results found so far. A failure is reported by the next lookup of the id.
    await this.#apis.get(id, (signal) => this.#find(id, { signal, seeds }), { signal }).catch(ignore)
    signal.throwIfAborted()
    return id
  }

  async #find(id: ApiId, known: Omit<LookUpOptions, 'onHigher'>): Promise<Found> {
    const startedAt = this.#lookUp.clock.elapsed()
    const onHigher = () => this.#apis.expire(id)
    const look = (init: LookUpInit, signal: AbortSignal) => lookUp(init, id, { ...known, signal, onHigher })
    const found = await this.#repeat({ what: id, startedAt, isForCall: known.isForCall }, look, known.signal)
    if (this.#log.enabled) this.#found(id, found, startedAt)
    this.#learn(found.signed)
    return found
  }

  #found(id: ApiId, { signed, owners, spares }: Found, startedAt: number): void {
    const ms = inMs(this.#lookUp.clock.elapsed() - startedAt)
    const { revision, state } = signed.manifest
    this.#log(`%s: revision ${revision}, ${state}, ${owners.length} owners and ${spares.length} spares (${ms})`, id)
  }

  async #repeat<T>(
    { what, startedAt, isForCall = false }: { what: string; startedAt: number; isForCall?: boolean | undefined },
    look: (init: LookUpInit, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal
  ): Promise<T> {
    const { clock, onAsked } = this.#lookUp
    const once = ({ signal, onSilent }: LookupAttempt) => {
      const tell = (peer: string, isThere: boolean) => {
        onAsked(peer, isThere)
        if (!isThere) onSilent(peer)
      }
      return look({ ...this.#lookUp, onAsked: tell }, signal)
    }
    try {
      return await repeatLookup({ joining: this.#joining, clock, isForCall }, once, signal)
    } catch (error) {
      if (this.#log.enabled)
        this.#log('%s was not found in %s: %s', what, inMs(clock.elapsed() - startedAt), reasonOf(error))
      throw error
    }
  }
}
