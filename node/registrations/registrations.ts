import { asSoukError, type Clock, formatApiRef, Mutex, parseApiRef, parseUsdc, SoukError } from '../../lib/index.ts'
import type {
  Adapter,
  Address,
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
} from '../../lib/interface/index.ts'
import type { Events } from '../events/events.ts'
import { ListingEvents } from '../events/listing-events.ts'
import type { Payout } from '../payments/payout.ts'
import { Adapters, type Factories } from '../upstream/adapters.ts'
import { DescriptionUpdates } from '../upstream/description-updates.ts'
import { Health } from '../upstream/health.ts'
import { DryRun } from '../upstream/dry-run.ts'
import { type AskedUpstream, CredentialStore, type CredentialStoreInit } from '../upstream/credential-store.ts'
import { changesOf, type Compared, replaceRefused } from './changes.ts'
import { keepingMapping, mappingProblems, remapped, type ShownMapping, shownMapping } from './mappings.ts'
import {
  isListingOf,
  type Registered,
  type Registration,
  type RegistrationBase,
  type RegistrationStatus
} from './registration.ts'
import { present } from '../present.ts'
import { proposedDescription } from './proposed-description.ts'
import { Serving } from './serving.ts'

const COLLECTION = 'registrations'
/** How many missing imports the text of an error lists. */
const MISSING_SHOWN = 10

export interface RegistrationsInit extends CredentialStoreInit {
  readonly souk: Pick<Souk, 'serve' | 'serveReplica' | 'move' | 'remove' | 'listings' | 'resolve'>
  readonly documents: Documents
  readonly factories: Factories
  readonly clock: Clock
  readonly payout: Payout
  /** Receives events about listings. Default: no events. */
  readonly events?: Pick<Events, 'emit'>
  /** Logs APIs that cannot be served, and APIs that can be served again. */
  readonly log: (line: string) => void
}

/** An own API to register. */
export interface RegisterInit {
  readonly terms: ListingInit
  readonly protocol: Protocol
  /** Its `auth` is null for none. If absent, the stored credentials of the same name and origin stay. */
  readonly asked: AskedUpstream
  /** It may change an API that is registered under the same name. Default false. */
  readonly replaces?: boolean
}

/**
 * The upstreams of this node: checked at registration, stored, and served again after a restart. A name is unique on a node, for own APIs
 * and replicas together.
 */
export class Registrations {
  readonly #init: RegistrationsInit
  readonly #known = new Map<string, Registration>()
  readonly #credentialStore: CredentialStore
  readonly #adapters: Adapters
  readonly #health: Health
  readonly #serving: Serving
  readonly #told: ListingEvents
  /** Dry runs of upstreams that are not registered. */
  readonly dryRun: DryRun
  /** Serializes changes: two registrations of one name would both claim its next revision. */
  readonly #changes = new Mutex()

  constructor(init: RegistrationsInit) {
    this.#init = init
    const { clock, documents, factories, log } = init
    const credentialStore = new CredentialStore(init)
    const adapters = new Adapters({ factories, clock, credentialStore })
    this.#credentialStore = credentialStore
    this.#adapters = adapters
    this.#told = new ListingEvents(init.events)
    this.dryRun = new DryRun({ clock, credentialStore, adapters, known: (name) => this.#known.get(name) })
    this.#health = new Health({
      clock,
      documents,
      log,
      move: (name, from, to) => this.#moveFrom(name, from, to),
      tell: (name, why) => this.#told.health(this.show(name).listing?.signed.id ?? name, why)
    })
    const updates = new DescriptionUpdates({ clock, log, renew: (name, snapshot) => this.#renew(name, snapshot) })
    this.#serving = new Serving({ ...init, adapters, updates, health: this.#health, retry: () => void this.#retry() })
  }

  /**
   * Serves the stored registrations, all or those of one kind. Own APIs need no network, so they can be served before a peer asks for them.
   * APIs that cannot be served now are logged and retried.
   */
  async restore(kind?: Registration['kind']): Promise<void> {
    for (const { value } of await this.#init.documents.list(COLLECTION)) {
      const registration = JSON.parse(value) as Registration
      this.#known.set(registration.name, registration)
    }
    await this.#serving.serveAll([...this.#known.values()].filter((known) => kind === undefined || known.kind === kind))
  }

  stop(): void {
    this.#serving.stop()
  }

  /**
   * Checks the upstream with a real request, publishes the listing and stores both. An own name that exists gets a new revision, with
   * its plans and major version. Without a description, the listing has that of the API's document.
   * @throws SoukError `api_exists` if it changes a registered API and may not; those of `AdapterFactory.inspect` and `Souk.serve`
   */
  async register(
    { terms: given, protocol, asked, replaces = false }: RegisterInit,
    signal: AbortSignal
  ): Promise<Registered> {
    const { name } = given
    const known = this.#known.get(name)
    const upstream = this.#credentialStore.taken(name, asked, known)
    if (known?.kind === 'replica') throw taken(name)
    this.#init.payout.check(parseUsdc(given.price))
    // Outside the mutex: an endpoint that hangs must not block changes of other listings. Before `api_exists`: an invalid description
    // is `invalid_request`, also where the name exists.
    const { adapter, inspection } = await this.#inspected(protocol, upstream, signal, known)
    const described = { ...present({ description: proposedDescription(inspection) }), ...given }
    return this.#changes.run(async () => {
      const before = this.#known.get(name)
      // A listing without a description, as of an earlier version, gets one as if nothing changed.
      const compared = before?.kind === 'own' && !before.terms.description ? given : described
      const next = { protocol, terms: compared, upstream }
      const refusal = before?.kind === 'replica' ? taken(name) : replaces ? undefined : this.#refusal(before, next)
      if (refusal !== undefined) {
        await adapter.close?.()
        throw refusal
      }
      const made = this.#made(name, protocol, upstream, inspection)
      const terms = keptTerms(before, described)
      return this.#publish({ ...made, kind: 'own', terms }, inspection.warnings, adapter)
    })
  }

  /**
   * Serves another provider’s published API through an upstream of this node.
   * @throws SoukError those of `Souk.resolve`, `AdapterFactory.inspect` and `Souk.serveReplica`
   */
  async serve(api: string, asked: AskedUpstream, signal: AbortSignal): Promise<Registered> {
    const ref = parseApiRef(api)
    const { name } = ref
    const known = this.#known.get(name)
    const upstream = this.#credentialStore.taken(name, asked, known)
    if (known?.kind === 'own') throw taken(name)
    // Outside the mutex, as in `register`.
    const { signed } = await this.#init.souk.resolve(ref, { signal })
    const { protocol, provider, price } = signed.manifest
    this.#init.payout.checkEarning(price)
    const isOfOther = (before: Registration | undefined) =>
      before?.kind === 'own' || (before !== undefined && before.provider !== provider)
    if (isOfOther(known)) throw taken(name)
    const { adapter, inspection } = await this.#inspected(protocol, upstream, signal, known)
    return this.#changes.run(async () => {
      if (isOfOther(this.#known.get(name))) {
        await adapter.close?.()
        throw taken(name)
      }
      const made = this.#made(name, protocol, upstream, inspection)
      return this.#publish({ ...made, kind: 'replica', provider }, inspection.warnings, adapter)
    })
  }

  /** Why an API with a price cannot be registered here, and the command that helps. */
  get unpayable(): string | undefined {
    try {
      this.#init.payout.check(1n)
      return undefined
    } catch (error) {
      return asSoukError(error).message
    }
  }

  list(): readonly RegistrationStatus[] {
    return [...this.#known.keys()].sort().map((name) => this.show(name))
  }

  /** @throws SoukError `api_not_found`, `invalid_request` */
  show(name: string): RegistrationStatus {
    const registration = this.#known.get(name)
    if (registration === undefined) {
      throw new SoukError('api_not_found', `No API "${formatApiRef(parseApiRef(name))}" is registered here.`)
    }
    const listing = this.#listingOf(registration)
    return { registration, listing, problem: this.#serving.problemOf(name), warnings: this.#serving.warningsOf(name) }
  }

  #listingOf(registration: Registration): Listing | undefined {
    return this.#init.souk.listings().find(({ signed }) => isListingOf(registration, signed.manifest))
  }

  /** @throws SoukError `api_not_found`, `invalid_request` */
  async move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<RegistrationStatus> {
    return this.#changes.run(async () => {
      const { listing } = this.show(name)
      await this.#health.overrule(name)
      await this.#told.changed(await this.#init.souk.move(name, state, notice), listing)
      return this.show(name)
    })
  }

  /** Publishes an own API on other terms, as a new revision. @throws SoukError `api_not_found`, `invalid_request` */
  revise(name: string, change: (terms: ListingInit) => ListingInit): Promise<Registered> {
    return this.#changes.run(async () => {
      const { registration } = this.show(name)
      if (registration.kind !== 'own')
        throw new SoukError(
          'invalid_request',
          'This is another provider’s API. Only its provider can change the terms.'
        )
      return this.#publish({ ...registration, terms: change(registration.terms) })
    })
  }

  /** Returns false if the listing is no longer in the state `from`. */
  #moveFrom(name: string, from: ListingState, to: 'paused' | 'published'): Promise<boolean> {
    return this.#changes.run(async () => {
      if (this.#known.get(name) === undefined || this.show(name).listing?.state !== from) return false
      await this.#init.souk.move(name, to)
      return true
    })
  }

  /** Stops serving an API and deletes its registration. @throws SoukError `api_not_found` */
  remove(name: string): Promise<void> {
    return this.#changes.run(async () => {
      const { listing } = this.show(name)
      if (listing !== undefined) await this.#init.souk.remove(listing.own ? name : listing.signed.id)
      await this.#serving.forget(name)
      await this.#init.documents.delete(COLLECTION, name)
      this.#known.delete(name)
      await this.#told.removed(listing?.signed.id ?? name)
    })
  }

  /** Sets the provider’s payout address. Its APIs get a new revision with it. */
  payTo(address: Address): Promise<void> {
    return this.#changes.run(async () => {
      await this.#init.payout.set(address)
      await this.#serving.serveAll([...this.#known.values()].filter(({ kind }) => kind === 'own'))
    })
  }

  /** @throws SoukError `api_not_found`, `invalid_request` if the protocol has no mapping */
  async mapping(name: string): Promise<ShownMapping> {
    const { registration } = this.show(name)
    return shownMapping(await this.#adapters.factory(registration.protocol), registration)
  }

  /** The API as another mapping would describe it. @throws SoukError as `map` */
  async previewMapping(name: string, document: unknown): Promise<Inspection> {
    const { registration } = this.show(name)
    return remapped(await this.#adapters.factory(registration.protocol), registration, document)
  }

  /** The problems of a mapping document. @throws SoukError as `mapping` */
  async checkMapping(name: string, document: unknown): Promise<readonly MappingProblem[]> {
    const { registration } = this.show(name)
    return mappingProblems(await this.#adapters.factory(registration.protocol), registration, document)
  }

  /** Serves an API with another mapping. @throws SoukError as `mapping`, with the `problems` if it does not fit */
  map(name: string, document: unknown): Promise<Registered> {
    return this.#changes.run(async () => {
      const { registration } = this.show(name)
      const { snapshot, warnings } = await remapped(
        await this.#adapters.factory(registration.protocol),
        registration,
        document
      )
      return this.#publish({ ...registration, snapshot }, warnings)
    })
  }

  /** Checks the upstream of a registration again. @throws SoukError those of `AdapterFactory.inspect` */
  async check(registration: Registration, signal: AbortSignal): Promise<void> {
    const { name, protocol } = registration
    const factory = await this.#adapters.factory(protocol)
    await factory.inspect(this.#credentialStore.opened(name, registration), signal)
  }

  /** The error `api_exists` with the changes, if there are any. */
  #refusal(before: Registration | undefined, { protocol, terms, upstream }: Compared): SoukError | undefined {
    if (before?.kind !== 'own') return undefined
    const opened = { ...before, upstream: this.#credentialStore.opened(before.name, before) }
    const changes = changesOf(opened, { protocol, terms: keptTerms(before, terms), upstream })
    return changes.length === 0 ? undefined : replaceRefused(before.name, changes)
  }

  async #inspected(
    protocol: Protocol,
    upstream: UpstreamConfig,
    signal: AbortSignal,
    before: Registration | undefined
  ): Promise<{ adapter: Adapter; inspection: Inspection }> {
    const factory = await this.#adapters.factory(protocol)
    const same = before?.protocol === protocol ? before : undefined
    const inspection = await keepingMapping(factory, same, await this.#adapters.inspected(protocol, upstream, signal))
    if (upstream.wsdl?.incomplete !== true) checkComplete(inspection)
    return { adapter: factory.open(upstream, inspection.snapshot, inspection.description), inspection }
  }

  #made(name: string, protocol: Protocol, upstream: UpstreamConfig, { snapshot }: Inspection): RegistrationBase {
    const registeredAt = this.#known.get(name)?.registeredAt ?? this.#init.clock.now()
    return { name, protocol, ...this.#credentialStore.sealed(name, upstream), snapshot, registeredAt }
  }

  /** Serves a registration and stores it. */
  async #publish(registration: Registration, warnings: readonly string[] = [], adapter?: Adapter): Promise<Registered> {
    const { name, kind } = registration
    const before = this.#listingOf(registration)
    const listing = await this.#serving.serve(registration, adapter)
    await this.#init.documents.put(COLLECTION, name, JSON.stringify(registration))
    const updated = this.#known.has(name)
    this.#known.set(name, registration)
    if (kind === 'own') await this.#told.changed(listing, before)
    return { registration, listing, updated, warnings }
  }

  /** Publishes a new revision after the API’s own description changed. */
  #renew(name: string, snapshot: string): Promise<void> {
    return this.#changes.run(async () => {
      const registration = this.#known.get(name)
      if (registration?.kind !== 'own' || registration.snapshot === snapshot) return
      const { listing } = await this.#publish({ ...registration, snapshot })
      const { revision } = listing.signed.manifest
      this.#init.log(`${name} describes itself anew: revision ${revision} is published.`)
    })
  }

  /** Serves the failed registrations that still exist. */
  #retry(): Promise<void> {
    return this.#changes.run(() => {
      const waiting = [...this.#known.values()].filter(({ name }) => this.#serving.problemOf(name) !== undefined)
      return this.#serving.serveAll(waiting)
    })
  }
}

/** @throws SoukError `description_incomplete`, with the `missing` imports */
function checkComplete({ missing = [] }: Inspection): void {
  if (missing.length === 0) return
  const more = missing.length - MISSING_SHOWN
  const lines = [...missing.slice(0, MISSING_SHOWN), ...(more > 0 ? [`There are ${more} more.`] : [])]
  const advice = 'Give the missing documents: --wsdl-file takes the WSDL in the folder of its imports, or a zip of all.'
  const detail = [...lines, `${advice} Or publish the API without them: --wsdl-incomplete`].join('\n')
  throw new SoukError('description_incomplete', detail, { members: { missing } })
}

/** A registration cannot name plans, so a new one keeps them. */
function keptTerms(before: Registration | undefined, terms: ListingInit): ListingInit {
  if (before?.kind !== 'own') return terms
  const { plans, payPerCall, major } = before.terms
  return { ...present({ plans, payPerCall, major }), ...terms }
}

function taken(name: string): SoukError {
  return new SoukError(
    'invalid_request',
    `The name "${name}" is already used on this node, by your own or another provider's API.`
  )
}
