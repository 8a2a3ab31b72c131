import {
  type Clock,
  limits,
  parseApiRef,
  parseUsdc,
  SoukError,
  asSoukError,
  deadline,
  type Timer
} from '../lib/index.ts'
import type {
  Adapter,
  Address,
  AdapterFactory,
  DeprecationNotice,
  Documents,
  Inspection,
  Listing,
  ListingInit,
  ListingState,
  MappingProblem,
  Protocol,
  Souk,
  UpstreamConfig
} from '../lib/interface/index.ts'
import type { Events } from './events/events.ts'
import { ListingNews } from './events/listing-news.ts'
import { keepingMapping, mappingProblems, remapped, type ShownMapping, shownMapping } from './mappings.ts'
import type { Payout } from './payments/payout.ts'
import { DescriptionNews } from './upstream/description-news.ts'
import { Health } from './upstream/health.ts'
import { Trials } from './upstream/trials.ts'
import { type AskedUpstream, type KeptUpstream, Vault, type VaultInit } from './upstream/vault.ts'

const COLLECTION = 'registrations'

interface RegistrationBase extends KeptUpstream {
  readonly protocol: Protocol
  /** What the adapter read of the upstream, so that a restart needs no upstream. */
  readonly snapshot: string
  /** Milliseconds since the epoch. */
  readonly registeredAt: number
}

/** An upstream of this node, and what is published with it: own terms, or another provider's API. */
export type Registration = RegistrationBase &
  (
    | { readonly kind: 'own'; readonly name: string; readonly terms: ListingInit }
    | { readonly kind: 'replica'; readonly name: string; readonly provider: string }
  )

export interface Registered {
  readonly registration: Registration
  readonly listing: Listing
  readonly updated: boolean
  readonly warnings: readonly string[]
}

/** A registration beside its listing; `problem` says why there is none. */
export interface RegistrationStatus {
  readonly registration: Registration
  readonly listing: Listing | undefined
  readonly problem: string | undefined
}

export interface RegistrationsInit extends VaultInit {
  readonly souk: Pick<Souk, 'serve' | 'serveReplica' | 'move' | 'remove' | 'listings' | 'resolve'>
  readonly documents: Documents
  readonly factories: Readonly<Partial<Record<Protocol, AdapterFactory>>>
  readonly clock: Clock
  readonly payout: Payout
  /** Whoever wants to know what becomes of listings. Default: nobody. */
  readonly events?: Pick<Events, 'emit'>
  /** Told what could not be served, and when it could again. */
  readonly log: (line: string) => void
}

/**
 * The upstreams of this node: checked when they are registered, kept, and served again after a restart. A name is used
 * once on a node, whether for an own API or a replica.
 */
export class Registrations {
  readonly #init: RegistrationsInit
  readonly #known = new Map<string, Registration>()
  readonly #problems = new Map<string, string>()
  readonly #vault: Vault
  readonly #health: Health
  readonly #told: ListingNews
  readonly #news: DescriptionNews
  /** What could be registered. */
  readonly trials: Trials
  #retry: Timer | undefined
  #stopped = false
  /** One change at a time: two registrations of one name would race for its revision. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(init: RegistrationsInit) {
    this.#init = init
    this.#vault = new Vault(init)
    this.#told = new ListingNews(init.events)
    this.trials = new Trials({ ...init, vault: this.#vault, known: (name) => this.#known.get(name) })
    const { clock, documents, log } = init
    this.#news = new DescriptionNews({ clock, log, renew: (name, snapshot) => this.#renew(name, snapshot) })
    const move = (name: string, from: ListingState, to: 'paused' | 'published') => this.#moveFrom(name, from, to)
    const tell = (name: string, why?: string) => this.#told.health(this.show(name).listing?.signed.id ?? name, why)
    this.#health = new Health({ clock, documents, log, move, tell })
  }

  /**
   * Serves what was registered before: all, or those of one kind. This provider's own need no network, so they can be served
   * before any peer is heard and could find them missing. What cannot be served yet is tried again later, and said.
   */
  async restore(kind?: Registration['kind']): Promise<void> {
    for (const { value } of await this.#init.documents.list(COLLECTION)) {
      const registration = JSON.parse(value) as Registration
      this.#known.set(registration.name, registration)
    }
    await this.#serveAll([...this.#known.values()].filter((known) => kind === undefined || known.kind === kind))
  }

  stop(): void {
    this.#stopped = true
    this.#health.stop()
    this.#news.stop()
    this.#retry?.cancel()
  }

  /**
   * Checks the upstream for real, publishes the listing and keeps both. An own name that is known gets a new revision.
   *
   * @param asked.auth - null for none. Where it is not said, what is known for the same name and origin stays.
   * @throws SoukError those of `AdapterFactory.inspect` and `Souk.serve`
   */
  async register(
    terms: ListingInit,
    protocol: Protocol,
    asked: AskedUpstream,
    signal: AbortSignal
  ): Promise<Registered> {
    const upstream = this.#vault.taken(terms.name, asked, this.#known.get(terms.name))
    if (this.#known.get(terms.name)?.kind === 'replica') throw taken(terms.name)
    this.#init.payout.check(parseUsdc(terms.price))
    // Not in turn: an endpoint that hangs must not hold up what is done to other listings.
    const { adapter, inspection } = await this.#open(protocol, upstream, signal, this.#known.get(terms.name))
    return this.#exclusively(async () => {
      const before = this.#known.get(terms.name)
      const listing = await serving(adapter, async () => {
        if (before?.kind === 'replica') throw taken(terms.name)
        return this.#serve(terms, adapter)
      })
      await this.#health.watch(terms.name, adapter)
      this.#follow(terms.name, adapter)
      const registration = await this.#keep({
        kind: 'own',
        name: terms.name,
        terms,
        protocol,
        ...this.#vault.sealed(terms.name, upstream),
        snapshot: inspection.snapshot,
        registeredAt: before?.registeredAt ?? this.#init.clock.now()
      })
      await this.#told.changed(listing)
      return { registration, listing, updated: before !== undefined, warnings: inspection.warnings }
    })
  }

  /**
   * Serves another provider's published API from this node's upstream.
   * @throws SoukError those of `Souk.resolve`, `AdapterFactory.inspect` and `Souk.serveReplica`
   */
  serve(api: string, asked: AskedUpstream, signal: AbortSignal): Promise<Registered> {
    return this.#exclusively(async () => {
      const ref = parseApiRef(api)
      const upstream = this.#vault.taken(ref.name, asked, this.#known.get(ref.name))
      const before = this.#known.get(ref.name)
      if (before?.kind === 'own') throw taken(ref.name)
      const { signed } = await this.#init.souk.resolve(ref, { signal })
      const { protocol, provider, price } = signed.manifest
      this.#init.payout.checkEarning(price)
      if (before !== undefined && before.provider !== provider) throw taken(ref.name)
      const { adapter, inspection } = await this.#open(protocol, upstream, signal, before)
      const listing = await serving(adapter, () => this.#init.souk.serveReplica(signed.id, adapter))
      const registration = await this.#keep({
        kind: 'replica',
        name: ref.name,
        provider,
        protocol,
        ...this.#vault.sealed(ref.name, upstream),
        snapshot: inspection.snapshot,
        registeredAt: before?.registeredAt ?? this.#init.clock.now()
      })
      return { registration, listing, updated: before !== undefined, warnings: inspection.warnings }
    })
  }

  list(): readonly RegistrationStatus[] {
    return [...this.#known.keys()].sort().map((name) => this.show(name))
  }

  /** @throws SoukError `api_not_found` */
  show(name: string): RegistrationStatus {
    const registration = this.#known.get(name)
    if (registration === undefined)
      throw new SoukError('api_not_found', `No API "${name.slice(0, 80)}" is registered here.`)
    const listing = this.#init.souk.listings().find(({ signed }) => isListingOf(registration, signed.manifest))
    return { registration, listing, problem: this.#problems.get(name) }
  }

  /** @throws SoukError `api_not_found`, `invalid_request` */
  async move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<RegistrationStatus> {
    return this.#exclusively(async () => {
      this.show(name)
      await this.#health.overrule(name)
      await this.#told.changed(await this.#init.souk.move(name, state, notice))
      return this.show(name)
    })
  }

  /** Publishes an own API on other terms, as a new revision. @throws SoukError `api_not_found`, `invalid_request` */
  revise(name: string, change: (terms: ListingInit) => ListingInit): Promise<Registered> {
    return this.#exclusively(async () => {
      const { registration } = this.show(name)
      if (registration.kind !== 'own') throw new SoukError('invalid_request', 'Its terms are its provider’s to change.')
      const revised: Registration = { ...registration, terms: change(registration.terms) }
      const upstream = this.#vault.opened(name, revised)
      const adapter = this.#factory(revised.protocol).open(upstream, revised.snapshot)
      const listing = await this.#serveWith(revised, adapter)
      return { registration: await this.#keep(revised), listing, updated: true, warnings: [] }
    })
  }

  /** False where the listing is in another state by now. */
  #moveFrom(name: string, from: ListingState, to: 'paused' | 'published'): Promise<boolean> {
    return this.#exclusively(async () => {
      if (this.#known.get(name) === undefined || this.show(name).listing?.state !== from) return false
      await this.#init.souk.move(name, to)
      return true
    })
  }

  /** Stops serving it and forgets it. @throws SoukError `api_not_found` */
  remove(name: string): Promise<void> {
    return this.#exclusively(async () => {
      const { listing } = this.show(name)
      if (listing !== undefined) await this.#init.souk.remove(listing.own ? name : listing.signed.id)
      await this.#health.forget(name)
      await this.#init.documents.delete(COLLECTION, name)
      this.#known.delete(name)
      this.#problems.delete(name)
      await this.#told.removed(listing?.signed.id ?? name)
    })
  }

  /** From now on this provider is paid there: its APIs get a new revision that says so. */
  payTo(address: Address): Promise<void> {
    return this.#exclusively(async () => {
      await this.#init.payout.set(address)
      await this.#serveAll([...this.#known.values()].filter(({ kind }) => kind === 'own'))
    })
  }

  /** @throws SoukError `api_not_found`, `invalid_request` where there is nothing to map */
  mapping(name: string): ShownMapping {
    const { registration } = this.show(name)
    return shownMapping(this.#factory(registration.protocol), registration)
  }

  /** The API as another mapping would make it. @throws SoukError as `map` */
  previewMapping(name: string, document: unknown): Inspection {
    const { registration } = this.show(name)
    return remapped(this.#factory(registration.protocol), registration, document)
  }

  /** What of a document does not fit. @throws SoukError as `mapping` */
  checkMapping(name: string, document: unknown): readonly MappingProblem[] {
    const { registration } = this.show(name)
    return mappingProblems(this.#factory(registration.protocol), registration, document)
  }

  /** Serves an API with another mapping from now on. @throws SoukError as `mapping`, with the `problems` where it does not fit */
  map(name: string, document: unknown): Promise<Registered> {
    return this.#exclusively(async () => {
      const { registration } = this.show(name)
      const factory = this.#factory(registration.protocol)
      const { snapshot, warnings } = remapped(factory, registration, document)
      const mapped: Registration = { ...registration, snapshot }
      const listing = await this.#serveWith(mapped, factory.open(this.#vault.opened(name, mapped), snapshot))
      return { registration: await this.#keep(mapped), listing, updated: true, warnings }
    })
  }

  /** Checks the upstream of a registration again. @throws SoukError those of `AdapterFactory.inspect` */
  async check(registration: Registration, signal: AbortSignal): Promise<void> {
    await this.#factory(registration.protocol).inspect(this.#vault.opened(registration.name, registration), signal)
  }

  async #open(
    protocol: Protocol,
    upstream: UpstreamConfig,
    signal: AbortSignal,
    before: Registration | undefined
  ): Promise<{ adapter: Adapter; inspection: Inspection }> {
    const factory = this.#factory(protocol)
    const late = () => new SoukError('upstream_timeout', 'The API did not answer in time while it was checked.')
    const limit = deadline(this.#init.clock, limits.INSPECT_MS, late, signal)
    try {
      const same = before?.protocol === protocol ? before : undefined
      const inspection = keepingMapping(factory, same, await factory.inspect(upstream, limit.signal))
      return { adapter: factory.open(upstream, inspection.snapshot), inspection }
    } finally {
      limit.clear()
    }
  }

  #factory(protocol: Protocol): AdapterFactory {
    const factory = this.#init.factories[protocol]
    if (factory === undefined) throw new SoukError('invalid_request', `This node has no adapter for ${protocol}.`)
    return factory
  }

  async #keep(registration: Registration): Promise<Registration> {
    await this.#init.documents.put(COLLECTION, registration.name, JSON.stringify(registration))
    this.#known.set(registration.name, registration)
    this.#problems.delete(registration.name)
    return registration
  }

  async #serveAll(registrations: readonly Registration[]): Promise<void> {
    for (let at = 0; at < registrations.length && !this.#stopped; at += limits.RESTORE_AT_ONCE_MAX) {
      const some = registrations.slice(at, at + limits.RESTORE_AT_ONCE_MAX)
      await Promise.all(some.map((registration) => this.#serveAgain(registration)))
    }
    if (this.#problems.size > 0 && !this.#stopped) this.#retryLater()
  }

  /** One address for all of a provider's APIs: it is no part of the terms that are kept. */
  async #serve(terms: ListingInit, adapter: Adapter): Promise<Listing> {
    const { souk, payout } = this.#init
    payout.check(parseUsdc(terms.price))
    return souk.serve({ ...terms, ...(payout.address === undefined ? {} : { payout: payout.address }) }, adapter)
  }

  async #serveWith(registration: Registration, adapter: Adapter, looks = false): Promise<Listing> {
    const listing = await serving(adapter, () =>
      registration.kind === 'own'
        ? this.#serve(registration.terms, adapter)
        : this.#init.souk.serveReplica(`${registration.name}@${registration.provider}`, adapter)
    )
    if (registration.kind === 'own') {
      await this.#health.watch(registration.name, adapter)
      this.#follow(registration.name, adapter, looks)
    }
    return listing
  }

  #follow(name: string, adapter: Adapter, looks = false): void {
    adapter.follow?.((snapshot) => this.#news.heard(name, snapshot), looks)
  }

  /** The API says something else of itself: its listing gets a new revision that says so. */
  #renew(name: string, snapshot: string): Promise<void> {
    return this.#exclusively(async () => {
      const registration = this.#known.get(name)
      if (registration?.kind !== 'own' || registration.snapshot === snapshot) return
      const renewed: Registration = { ...registration, snapshot }
      const adapter = this.#factory(registration.protocol).open(this.#vault.opened(name, registration), snapshot)
      const { signed } = await this.#serveWith(renewed, adapter)
      await this.#keep(renewed)
      this.#init.log(`${name} describes itself anew: revision ${signed.manifest.revision} is published.`)
    })
  }

  async #serveAgain(registration: Registration): Promise<void> {
    const { name } = registration
    try {
      const upstream = this.#vault.opened(name, registration)
      const adapter = this.#factory(registration.protocol).open(upstream, registration.snapshot)
      // It may have changed while this node was off.
      await this.#serveWith(registration, adapter, true)
      if (this.#problems.delete(name)) this.#init.log(`${name} is served again.`)
    } catch (error) {
      const why = asSoukError(error).message
      if (this.#problems.get(name) !== why) this.#init.log(`${name} is not served: ${why}`)
      this.#problems.set(name, why)
    }
  }

  /** A replica's manifest comes from its provider, who may start after us. */
  #retryLater(): void {
    this.#retry = this.#init.clock.after(limits.RESTORE_RETRY_MS, () => {
      void this.#exclusively(() => {
        const waiting = [...this.#known.values()].filter(({ name }) => this.#problems.has(name))
        return this.#serveAll(waiting)
      })
    })
  }

  #exclusively<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(task)
    this.#turn = result.catch(() => undefined)
    return result
  }
}

/** Hands an adapter over; one that was not taken is let go of. */
async function serving(adapter: Adapter, serve: () => Promise<Listing>): Promise<Listing> {
  try {
    return await serve()
  } catch (error) {
    await adapter.close?.()
    throw error
  }
}

function isListingOf(registration: Registration, manifest: { name: string; provider: string }): boolean {
  if (manifest.name !== registration.name) return false
  return registration.kind === 'own' || manifest.provider === registration.provider
}

function taken(name: string): SoukError {
  return new SoukError(
    'invalid_request',
    `The name "${name}" is used on this node already, for another provider's API or your own.`
  )
}
