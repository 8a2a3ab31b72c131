import type { Startable } from '@libp2p/interface'
import { serviceCapabilities, serviceDependencies } from '@libp2p/interface'
import { type ApiId, type ApiRef, checkApiName, isProviderId, parseApiRef } from './base/api-name.ts'
import { logOf } from './base/component-log.ts'
import { asSoukError, SoukError } from './base/errors.ts'
import { checkApi, checkCall } from './call/check-call.ts'
import { CallProtocol } from './call/call-protocol.ts'
import { LocalCaller } from './call/local-caller.ts'
import { REACH_PEERS_MAX } from './base/limits/directory.ts'
import { malformed } from './base/malformed.ts'
import { serveDescriptions } from './describe/description-exchange.ts'
import { DescriptionReader } from './describe/description-reader.ts'
import { DocumentShelf } from './describe/document-shelf.ts'
import type { Adapter } from './interface/adapter.ts'
import type { Descriptions } from './interface/description.ts'
import type { Resolution, ResolveOptions, SearchPage, SearchQuery } from './interface/directory.ts'
import type {
  Delegation,
  DeprecationNotice,
  ListingState,
  ManifestSigner,
  SignedManifest
} from './interface/manifest.ts'
import type { CallInit, CallReply, Listing, ListingInit, Souk, SoukStatus } from './interface/souk.ts'
import type { Reputation } from './interface/quality.ts'
import type { Store } from './interface/store.ts'
import type { Subscriptions } from './interface/subscription.ts'
import type { PaymentScheme } from './interface/payment-scheme.ts'
import { checkBootstrap, type SoukInit, type SoukOptions, soukOptions } from './options.ts'
import { nextEpoch } from './owner/epoch.ts'
import { restoredAt } from './owner/restored.ts'
import { serveCatalogue } from './resolve/catalogue/catalogue-exchange.ts'
import { checkSearch } from './resolve/catalogue/check-search.ts'
import { createDiscovery, type Discovery } from './resolve/catalogue/discovery.ts'
import { serveManifests } from './resolve/manifest/manifest-exchange.ts'
import { createManifestSigner } from './resolve/manifest/manifest-signer.ts'
import { createMemoryStore } from './store/memory/store.ts'
import { type Buying, createBuying } from './wiring/buying.ts'
import { housekeepingPart } from './wiring/housekeeping.ts'
import { started } from './wiring/part.ts'
import { createPaying } from './wiring/paying.ts'
import { presencePart, servingPart } from './wiring/presence.ts'
import { createReach, type Reach } from './wiring/reach.ts'
import { createSelling, type Selling } from './wiring/selling.ts'
import type { SoukComponents } from './wiring/souk-components.ts'
import { storesPart } from './wiring/stores.ts'

/**
 * Souk as a libp2p service: `createLibp2p({ services: { dht: soukDht({ network: 'dev' }), souk: souk() } })`.
 * @throws SoukError `invalid_request` for invalid options
 *
 * @example
 * ```ts
 * import { noise } from '@chainsafe/libp2p-noise'
 * import { identify, identifyPush } from '@libp2p/identify'
 * import { ping } from '@libp2p/ping'
 * import { tcp } from '@libp2p/tcp'
 * import { yamux } from '@libp2p/yamux'
 * import { createLibp2p } from 'libp2p'
 * import { souk, soukDht } from 'souk'
 *
 * const node = await createLibp2p({
 *   transports: [tcp()],
 *   connectionEncrypters: [noise()],
 *   streamMuxers: [yamux()],
 *   services: {
 *     identify: identify(),
 *     identifyPush: identifyPush(),
 *     ping: ping(),
 *     dht: soukDht({ network: 'dev' }),
 *     souk: souk()
 *   }
 * })
 * console.log(node.services.souk.status().listings) // 0
 * await node.stop()
 * ```
 */
export function souk(init: SoukInit = {}): (components: SoukComponents) => Souk {
  const options = soukOptions(init)
  return (components) => new SoukService(options, components)
}

/** The parts that exist while the service runs. They need the boot epoch from the opened store. */
interface Running {
  readonly paymentScheme: PaymentScheme
  readonly discovery: Discovery
  readonly selling: Selling
  readonly calls: CallProtocol
  readonly buying: Buying
}

class SoukService implements Souk, Startable {
  readonly [serviceCapabilities] = ['@souk/market']
  readonly [serviceDependencies] = ['@libp2p/identify']
  readonly store: Store
  readonly descriptions: Descriptions
  readonly #options: SoukOptions
  readonly #components: SoukComponents
  readonly #manifestSigner: ManifestSigner
  readonly #reach: Reach
  /** Descriptions of this node's APIs, and cached ones of others. */
  readonly #shelf: DocumentShelf
  #running: Running | undefined
  /** True from the first start on. */
  #wasStarted = false
  /** Stops the started parts in reverse order. */
  #parts = new AsyncDisposableStack()
  /** The parts through which other nodes reach this one. They stop first, while libp2p still holds its connections. */
  #facing = new AsyncDisposableStack()

  constructor(options: SoukOptions, components: SoukComponents) {
    const { clock, network } = options
    this.#options = options
    this.#components = components
    this.store = options.store ?? createMemoryStore()
    this.#manifestSigner = createManifestSigner({ providerKey: options.providerKey ?? components.privateKey, clock })
    this.#reach = createReach(components, options, this.store.documents, () => this.#local().length > 0)
    const { link } = this.#reach
    serveManifests({ link, local: () => this.#local(), clock })
    serveCatalogue({ link, index: this.store.listings, network, clock })
    this.#shelf = new DocumentShelf(clock)
    serveDescriptions({ link, shelf: this.#shelf, clock })
    const { listings } = this.store
    const sourceOf = async (id: ApiId) => (await listings.heads([id]))[0]?.source
    this.descriptions = new DescriptionReader({ link, shelf: this.#shelf, clock, sourceOf })
  }

  /**
   * Creates, connects and starts all parts. If one fails to start, libp2p calls `stop`, which stops the parts before
   * it. This runs before libp2p starts its services, because it starts them all at once, and a service that is still
   * starting when another one fails is never stopped.
   */
  async beforeStart(): Promise<void> {
    this.#wasStarted = true
    const [options, components, store] = [this.#options, this.#components, this.store]
    const { clock, network, agent } = options
    const { link, directory } = this.#reach
    const parts = (this.#parts = new AsyncDisposableStack())
    const facing = (this.#facing = new AsyncDisposableStack())
    const local = () => this.#local()
    const common = { components, options, store, link, directory, local }

    await started(parts, storesPart(store, options.sharedStore))
    const epoch = await nextEpoch(store.documents, clock)
    const restored = await restoredAt(store.documents)
    const discovery = this.#discovery()
    parts.defer(() => discovery.quality.stop())
    await discovery.quality.start()
    const { paymentScheme } = await started(parts, createPaying(common))
    const [self, manifestSigner, eventPublisher] = [link.self, this.#manifestSigner, discovery.announcements]
    const selling = createSelling({
      ...common,
      self,
      epoch,
      restoredAt: restored,
      paymentScheme,
      manifestSigner,
      eventPublisher,
      reachable: () => this.#reach.reachable(),
      descriptions: this.#shelf
    })
    const { owner, handler, planService } = selling
    const calls = new CallProtocol({
      link,
      clock,
      network,
      epoch,
      agent,
      handler,
      onAck: store.calls.acknowledge.bind(store.calls),
      log: logOf(components.logger, 'souk:call')
    })
    const caller = new LocalCaller({ clock, self, handle: handler, remote: calls })
    const joining = this.#reach.neighbours
    const buying = createBuying({ ...common, discovery, paymentScheme, caller, planService, joining })
    this.#running = { paymentScheme, discovery, selling, calls, buying }

    await started(parts, selling)
    await started(parts, buying)
    await started(parts, housekeepingPart({ ...common, paymentScheme }))
    await options.prepare?.(this)
    await started(facing, servingPart({ clock, link, owner, calls }))
  }

  /** libp2p calls the others only on a service that has this method. */
  start(): void {}

  async afterStart(): Promise<void> {
    const { selling, discovery, buying } = this.#run()
    const { events } = this.#components
    await started(this.#facing, presencePart({ events, reach: this.#reach, selling, discovery }))
    buying.warmLinks.start()
    this.#facing.defer(() => buying.warmLinks.stop())
  }

  /** Sends new calls elsewhere, and waits for running ones. */
  async beforeStop(): Promise<void> {
    await this.#facing.disposeAsync()
  }

  async stop(): Promise<void> {
    this.#running = undefined
    await this.#parts.disposeAsync()
  }

  async serve(init: ListingInit, adapter: Adapter): Promise<Listing> {
    return this.#run().selling.provider.serve(init, adapter)
  }

  async serveReplica(id: ApiId, adapter: Adapter): Promise<Listing> {
    const { selling, buying } = this.#run()
    const { directory, link } = this.#reach
    const [{ signed }, record] = await buying.lookUp(async (signal) => {
      const found = await buying.resolver.resolve(parseApiRef(id), { signal, refresh: true })
      return [found, await directory.record(found.signed.id, signal)] as const
    })
    const delegations = record?.delegations ?? []
    const { self } = link
    if (self !== signed.manifest.provider && !delegations.some(({ peer }) => peer === self)) {
      const hint = `Ask its provider to run: souk provider delegate ${self}`
      throw new SoukError('key_not_permitted', `The provider of ${id} has not delegated to this node. ${hint}`)
    }
    return selling.provider.serveReplica(signed, delegations, adapter)
  }

  listings(): readonly Listing[] {
    return this.#run().selling.provider.listings()
  }

  async knownBy(id: ApiId, signal: AbortSignal): Promise<readonly string[]> {
    const { selling, discovery } = this.#run()
    const listing = selling.provider.listings().find(({ signed }) => signed.id === id)
    if (listing === undefined) return []
    const peers = this.#reach.link.peers().slice(0, REACH_PEERS_MAX)
    const { envelope } = listing.signed
    const answers = await Promise.all(peers.map((peer) => discovery.reader.hasManifest(peer, envelope, signal)))
    return peers.filter((_, at) => answers[at] === true).map((peer) => peer.id)
  }

  async move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<Listing> {
    return this.#run().selling.provider.move(name, state, notice)
  }

  async remove(name: string): Promise<void> {
    return this.#run().selling.provider.remove(name)
  }

  async delegate(peer: string): Promise<Delegation> {
    const { selling } = this.#run()
    if (typeof peer !== 'string') throw malformed('peer', '`peer` must be the peer id of a node.')
    return selling.provider.delegate(peer)
  }

  async delegations(): Promise<readonly Delegation[]> {
    return this.#run().selling.provider.delegations()
  }

  /** Not async, which would make a promise for each call. */
  call(init: CallInit): Promise<CallReply> {
    try {
      const { buying } = this.#run()
      checkCall(init)
      return buying.call(init)
    } catch (error) {
      return Promise.reject(asSoukError(error))
    }
  }

  async resolve(api: string | ApiRef, options?: Partial<ResolveOptions>): Promise<Resolution> {
    const { buying } = this.#run()
    checkApi(api)
    return buying.resolve(api, options)
  }

  async search(query: SearchQuery = {}, signal?: AbortSignal): Promise<SearchPage> {
    const { discovery } = this.#run()
    checkSearch(query)
    return discovery.catalogue.search(query, signal)
  }

  async reputation(id: ApiId): Promise<Reputation> {
    return this.#run().discovery.reputation(id)
  }

  async pin(name: string, provider: string): Promise<void> {
    if (!isProviderId(provider))
      throw malformed('provider', 'The value is not a provider id. A provider id starts with 12D3KooW.')
    await this.#run().buying.resolver.pin(checkApiName(name), provider)
  }

  async pinned(name: string): Promise<string | undefined> {
    return this.#run().buying.resolver.pinned(checkApiName(name))
  }

  get subscriptions(): Subscriptions {
    return this.#run().buying.subscriptions
  }

  addBootstrap(addresses: readonly string[]): void {
    for (const address of addresses) checkBootstrap(address)
    this.#options.worth?.addBootstrap(addresses)
    this.#reach.neighbours.addBootstrap(addresses)
  }

  status(): SoukStatus {
    const { selling, calls, paymentScheme } = this.#run()
    const { link } = this.#reach
    const peers = link.peers()
    return {
      peer: link.self,
      provider: this.#manifestSigner.provider,
      network: this.#options.network,
      addresses: this.#reach.addresses(),
      reachability: this.#reach.status(),
      peers,
      alone: peers.length === 0,
      paymentScheme: paymentScheme.scheme,
      listings: selling.owner.apis.list().length,
      serving: selling.owner.apis.inFlight,
      calling: calls.calling
    }
  }

  #discovery(): Discovery {
    const { clock, random, network, providerKey, probes } = this.#options
    const { link, clocks, directory, gossip, neighbours } = this.#reach
    return createDiscovery({
      index: this.store.listings,
      directory,
      link,
      clocks,
      network,
      privateKey: this.#components.privateKey,
      local: () => this.#local(),
      connected: (signal) => neighbours.connected(signal),
      documents: this.store.documents,
      describing: {
        descriptions: this.descriptions,
        resolve: this.resolve.bind(this),
        log: logOf(this.#components.logger, 'souk:resolve')
      },
      clock,
      random,
      ...(providerKey && { providerKey }),
      ...(gossip && { gossip }),
      ...(probes && { probe: this.resolve.bind(this) })
    })
  }

  #run(): Running {
    if (this.#running !== undefined) return this.#running
    if (!this.#wasStarted) throw new SoukError('invalid_request', 'The node is not started. Await its `start()` first.')
    // Requests that arrive while a node stops get the same code from its owner side.
    throw new SoukError('overloaded', 'The node is stopped. Start it again, or use another one.', { notAccepted: true })
  }

  #local(): readonly SignedManifest[] {
    return this.#running?.selling.owner.apis.manifests() ?? []
  }
}
