import type { ComponentLogger, Libp2pEvents, Logger, PeerId, PeerStore, PrivateKey, Startable } from '@libp2p/interface'
import { serviceCapabilities, serviceDependencies } from '@libp2p/interface'
import type { AddressManager, ConnectionManager, Registrar } from '@libp2p/interface-internal'
import type { KadDHT } from '@libp2p/kad-dht'
import type { TypedEventTarget } from 'main-event'
import { type ApiId, type ApiRef, checkApiName, isProviderId, parseApiRef } from './base/api-name.ts'
import { deadline, sleep } from './base/clock.ts'
import { logOf, reasonOf } from './base/component-log.ts'
import { SoukError } from './base/errors.ts'
import { DAY_MS, DRAIN_MS, JOIN_MS, LOOKUP_MS } from './base/limits.ts'
import { requestIds } from './base/request-id.ts'
import { CallProtocol } from './call/call-protocol.ts'
import { Consumer } from './call/consumer.ts'
import { LocalCaller } from './call/local-caller.ts'
import { UsedKeys } from './call/used-keys.ts'
import type { Adapter } from './interface/adapter.ts'
import type { CallHandler } from './interface/call.ts'
import type { Directory, Resolution, ResolveOptions, SearchPage, SearchQuery } from './interface/directory.ts'
import type { Gossip } from './interface/gossip.ts'
import type { Delegation, DeprecationNotice, ListingState, Notary } from './interface/manifest.ts'
import type { CallInit, CallReply, Listing, ListingInit, Souk, SoukStatus } from './interface/souk.ts'
import type { Standing } from './interface/quality.ts'
import type { Address } from './interface/signer.ts'
import type { Store } from './interface/store.ts'
import type { Subscriptions } from './interface/subscription.ts'
import type { Till } from './interface/till.ts'
import { transportAddresses } from './link/interface-addresses.ts'
import { Libp2pGossip } from './link/libp2p-gossip.ts'
import { Libp2pLink } from './link/libp2p-link.ts'
import { Neighbours } from './link/neighbours.ts'
import { announcementTopic } from './link/souk-gossip.ts'
import { type SoukInit, type SoukOptions, soukOptions } from './options.ts'
import { Announcer } from './owner/announcer.ts'
import { loggedCalls } from './owner/logged-calls.ts'
import { nextEpoch } from './owner/epoch.ts'
import { Owner } from './owner/owner.ts'
import { Provider } from './owner/provider.ts'
import { restoredAt } from './owner/restored.ts'
import { TrackRecord } from './owner/track-record.ts'
import { createMeteredTill } from './pay/metered-till.ts'
import type { GossipSub } from '@libp2p/gossipsub'
import { serveCatalogue } from './resolve/catalogue-exchange.ts'
import { createDiscovery, type Discovery } from './resolve/discovery.ts'
import { DailySpend } from './plans/daily-spend.ts'
import { OwnRecords } from './plans/own-records.ts'
import { OwnSubscriptions } from './plans/own-subscriptions.ts'
import { PlanCaller } from './plans/plan-caller.ts'
import { PlanDesk } from './plans/plan-desk.ts'
import { createKadDirectory } from './resolve/kad-directory.ts'
import { serveManifests } from './resolve/manifest-exchange.ts'
import { createNotary } from './resolve/notary.ts'
import { createResolver, type PinningResolver } from './resolve/resolver.ts'
import { Trimmer } from './retention/trimmer.ts'
import { createMemoryStore } from './store/memory-store.ts'

/** The libp2p components that Souk uses. `dht` is the service created by `soukDht()`. */
export interface SoukComponents {
  readonly peerId: PeerId
  readonly privateKey: PrivateKey
  readonly connectionManager: ConnectionManager
  readonly registrar: Registrar
  readonly peerStore: PeerStore
  readonly addressManager: AddressManager
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly logger: ComponentLogger
  readonly dht?: KadDHT
  /** The service created by `soukGossip()`. Without it, new listings spread by queries only, not within seconds. */
  readonly pubsub?: GossipSub
}

/**
 * Souk as a libp2p service: `createLibp2p({ services: { dht: soukDht(), souk: souk() } })`.
 * @throws SoukError `invalid_request` for invalid options
 */
export function souk(init: SoukInit = {}): (components: SoukComponents) => Souk {
  const options = soukOptions(init)
  return (components) => new SoukService(options, components)
}

/** The parts that exist while the service runs. They need the boot epoch from the opened store. */
interface Running {
  readonly owner: Owner
  readonly provider: Provider
  readonly track: TrackRecord
  readonly announcer: Announcer
  readonly calls: CallProtocol
  readonly consumer: Consumer
  readonly resolver: PinningResolver
  readonly discovery: Discovery
  readonly till: Till
  readonly desk: PlanDesk
  readonly spend: DailySpend
  readonly subscriptions: OwnSubscriptions
  readonly planCaller: PlanCaller
  readonly trimmer: Trimmer
}

class SoukService implements Souk, Startable {
  readonly [serviceCapabilities] = ['@souk/market']
  readonly [serviceDependencies] = ['@libp2p/identify']
  readonly store: Store
  readonly #options: SoukOptions
  readonly #components: SoukComponents
  readonly #link: Libp2pLink
  readonly #directory: Directory
  readonly #notary: Notary
  readonly #neighbours: Neighbours
  #running: Running | undefined

  constructor(options: SoukOptions, components: SoukComponents) {
    const { clock, bootstrap } = options
    const providerKey = options.providerKey ?? components.privateKey
    this.#options = options
    this.#components = components
    this.store = options.store ?? createMemoryStore()
    this.#link = new Libp2pLink(components, clock)
    this.#directory = options.directory ?? kadDirectory(components, options)
    this.#notary = createNotary({ providerKey, clock })
    this.#neighbours = new Neighbours({
      // Listed one by one, because libp2p's components are a proxy that cannot be spread.
      connectionManager: components.connectionManager,
      events: components.events,
      documents: this.store.documents,
      clock,
      bootstrap,
      log: logOf(components.logger, 'souk:link')
    })
    serveManifests({ link: this.#link, local: () => this.#local() })
    serveCatalogue({ link: this.#link, index: this.store.listings, network: options.network, clock })
  }

  async start(): Promise<void> {
    await this.store.open()
    await this.#options.sharedStore?.open()
    const { documents } = this.store
    this.#running = this.#assemble(await nextEpoch(documents, this.#options.clock), await restoredAt(documents))
    await this.#running.discovery.quality.start()
    await this.#running.track.start()
    await this.#running.till.start?.()
    await this.#running.desk.start()
    await this.#running.provider.restore()
    await this.#options.prepare?.(this)
    await this.#link.start()
  }

  async afterStart(): Promise<void> {
    const { announcer, provider, discovery, trimmer } = this.#run()
    discovery.start()
    this.#components.events.addEventListener('peer:identify', this.#onPeer)
    announcer.start(() => provider.renew())
    trimmer.start()
    await this.#join()
  }

  /** Sends new calls elsewhere, and waits for running ones. */
  async beforeStop(): Promise<void> {
    // libp2p also stops services that failed to start. It reports the start's error only if stopping throws none.
    if (this.#running === undefined) return
    const { owner, announcer, calls, discovery } = this.#running
    this.#neighbours.stop()
    this.#components.events.removeEventListener('peer:identify', this.#onPeer)
    announcer.stop()
    discovery.stop()
    calls.drain()
    await Promise.race([owner.drain(), sleep(this.#options.clock, DRAIN_MS)])
    // libp2p closes connections in the same step, so the last responses must be sent before.
    await this.#link.stop()
  }

  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await this.#link.stop()
    for (const { adapter } of running?.owner.list() ?? []) await adapter.close?.()
    await running?.trimmer.stop()
    await running?.desk.stop()
    await running?.spend.stop()
    await running?.till.stop?.()
    await running?.discovery.quality.stop()
    await running?.track.stop()
    await this.store.close()
    if (this.#options.sharedStore !== this.store) await this.#options.sharedStore?.close()
  }

  serve(init: ListingInit, adapter: Adapter): Promise<Listing> {
    return this.#run().provider.serve(init, adapter)
  }

  async serveReplica(id: ApiId, adapter: Adapter): Promise<Listing> {
    const { provider, resolver } = this.#run()
    const [{ signed }, record] = await this.#lookUp(async (signal) => {
      const found = await resolver.resolve(parseApiRef(id), { signal, refresh: true })
      return [found, await this.#directory.record(found.signed.id, signal)] as const
    })
    const delegations = record?.delegations ?? []
    const self = this.#link.self
    if (self !== signed.manifest.provider && !delegations.some(({ peer }) => peer === self)) {
      const hint = `Ask its provider to run: souk provider delegate ${self}`
      throw new SoukError('key_not_permitted', `The provider of ${id} has not delegated to this node. ${hint}`)
    }
    return provider.serveReplica(signed, delegations, adapter)
  }

  listings(): readonly Listing[] {
    return this.#run().provider.listings()
  }

  move(name: string, state: ListingState, notice?: DeprecationNotice): Promise<Listing> {
    return this.#run().provider.move(name, state, notice)
  }

  remove(name: string): Promise<void> {
    return this.#run().provider.remove(name)
  }

  delegate(peer: string): Promise<Delegation> {
    return this.#run().provider.delegate(peer)
  }

  delegations(): Promise<readonly Delegation[]> {
    return this.#run().provider.delegations()
  }

  call(init: CallInit): Promise<CallReply> {
    const { consumer, planCaller } = this.#run()
    return init.subscription === undefined ? consumer.call(init) : planCaller.call(init, init.subscription)
  }

  resolve(api: string | ApiRef, options: Partial<ResolveOptions> = {}): Promise<Resolution> {
    const ref = typeof api === 'string' ? parseApiRef(api) : api
    return this.#lookUp((signal) => this.#run().resolver.resolve(ref, { ...options, signal }), options.signal)
  }

  search(query: SearchQuery = {}, signal?: AbortSignal): Promise<SearchPage> {
    return this.#lookUp((limited) => this.#run().discovery.catalogue.search(query, limited), signal)
  }

  standing(id: ApiId): Promise<Standing> {
    return this.#run().discovery.standing(id)
  }

  async pin(name: string, provider: string): Promise<void> {
    if (!isProviderId(provider))
      throw new SoukError('invalid_request', 'The value is not a provider id. A provider id starts with 12D3KooW.')
    await this.#run().resolver.pin(checkApiName(name), provider)
  }

  pinned(name: string): Promise<string | undefined> {
    return this.#run().resolver.pinned(checkApiName(name))
  }

  get subscriptions(): Subscriptions {
    return this.#run().subscriptions
  }

  status(): SoukStatus {
    const { owner, calls, till } = this.#run()
    const peers = this.#link.peers()
    return {
      peer: this.#link.self,
      provider: this.#notary.provider,
      network: this.#options.network,
      addresses: this.#addresses(),
      peers,
      alone: peers.length === 0,
      till: till.scheme,
      listings: owner.list().length,
      serving: owner.inFlight,
      calling: calls.calling
    }
  }

  #addresses(): string[] {
    const { addressManager } = this.#components
    const announced = addressManager.getAddresses().map(String)
    if (announced.length > 0) return announced
    return transportAddresses(addressManager).map((address) => `${address.toString()}/p2p/${this.#link.self}`)
  }

  #trimmer({ retention }: Till): Trimmer {
    const { clock, sharedStore, keepDays, trimmedKinds } = this.#options
    const log = logOf(this.#components.logger, 'souk:store')
    return new Trimmer({
      clock,
      store: this.store,
      keepMs: keepDays * DAY_MS,
      kinds: trimmedKinds,
      onError: (error) => log('old rows could not be deleted: %s', reasonOf(error)),
      ...(sharedStore && { sharedStore }),
      ...(retention && { till: retention })
    })
  }

  /** Resolves when the node is on the network, or after `JOIN_MS`; joining then continues in the background. */
  async #join(): Promise<void> {
    const { peerStore, peerId, addressManager } = this.#components
    // The DHT announces this node's addresses from the peer store, which libp2p fills only a second later.
    await peerStore.patch(peerId, { multiaddrs: addressManager.getAddresses() })
    const limit = deadline(this.#options.clock, JOIN_MS, () => new Error('joining timed out'))
    await Promise.race([this.#neighbours.start(), sleep(this.#options.clock, JOIN_MS)])
    if (this.#link.peers().length > 0) await this.#directory.ready(limit.signal)
    limit.clear()
  }

  async #lookUp<T>(look: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const limit = deadline(this.#options.clock, LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    try {
      return await look(limit.signal)
    } finally {
      limit.clear()
    }
  }

  #run(): Running {
    if (this.#running === undefined) throw new SoukError('internal_error', 'The node is not running.')
    return this.#running
  }

  *#local() {
    for (const { signed } of this.#running?.owner.list() ?? []) yield signed
  }

  *#payouts(): Iterable<Address> {
    for (const { manifest } of this.#local()) if (manifest.payout !== undefined) yield manifest.payout
  }

  readonly #onPeer = () => {
    this.#running?.announcer.peerJoined()
    this.#running?.discovery.catalogue.peerJoined()
  }

  #desk(): PlanDesk {
    const { clock, sharedStore, onSold } = this.#options
    return new PlanDesk({
      clock,
      documents: this.store.documents,
      self: this.#link.self,
      log: logOf(this.#components.logger, 'souk:plans'),
      ...(sharedStore && { shared: sharedStore.documents }),
      ...(onSold && { onSold })
    })
  }

  /** The only wiring. */
  #assemble(epoch: bigint, restoredAt: number): Running {
    const { clock, random, network, agent } = this.#options
    const { logger } = this.#components
    const { calls: log, claims, documents, ledger } = this.store
    const [link, directory, notary] = [this.#link, this.#directory, this.#notary]
    const [local, refusal] = [() => this.#local(), () => this.store.refusal?.()]

    const payouts = () => this.#payouts()
    const components = { calls: log, documents, ledger, link, clock, random, payouts, logger }
    const till = this.#options.till?.(components) ?? createMeteredTill({ log })
    const shared = this.#options.sharedStore?.documents
    const desk = this.#desk()
    const [self, plans] = [link.self, desk]
    const owner = new Owner({ clock, till, calls: log, claims, self, epoch, restoredAt, plans, refusal })
    const isOwn = (id: ApiId) => owner.get(id)?.signed.manifest.provider === notary.provider
    const track = new TrackRecord({ documents, clock, isOwn })
    const logged = loggedCalls(owner.handle.bind(owner), logOf(logger, 'souk:owner'))
    const handler = valuing(this.#options, till, track.watching(logged))
    const onAck = log.acknowledge.bind(log)
    const callLog = logOf(logger, 'souk:call')
    const calls = new CallProtocol({ link, clock, network, epoch, agent, handler, onAck, log: callLog })
    const announceLog = logOf(logger, 'souk:announce')
    const gossip = gossipOf(this.#components, network, announceLog)
    const discovery = createDiscovery({
      index: this.store.listings,
      directory,
      link,
      network,
      privateKey: this.#components.privateKey,
      local,
      documents,
      clock,
      random,
      ...(this.#options.providerKey === undefined ? {} : { providerKey: this.#options.providerKey }),
      ...(gossip === undefined ? {} : { gossip }),
      ...(this.#options.probes ? { probe: this.resolve.bind(this) } : {})
    })
    const learn = discovery.catalogue.learn.bind(discovery.catalogue)
    const hasOthers = () => this.#neighbours.hasOthers
    const resolver = createResolver({
      directory,
      link,
      documents,
      local,
      clock,
      random,
      learn,
      hasOthers,
      log: logOf(logger, 'souk:resolve')
    })
    const ids = requestIds(clock, random)
    const consumer = new Consumer({
      clock,
      resolver,
      caller: new LocalCaller({ clock, self: link.self, handle: handler, remote: calls }),
      till,
      requestIds: ids,
      usedKeys: new UsedKeys({ clock, claims: this.#options.sharedStore?.claims ?? claims, self }),
      refusal,
      log: callLog,
      observe: (id, peer, outcome) => {
        discovery.observe(id, peer, outcome)
        if (outcome.isGood) this.#options.worth?.answered(peer)
      }
    })
    const onError = (error: unknown) => announceLog('an announcement failed: %s', reasonOf(error))
    const announcer = new Announcer({ clock, directory, onError, teller: discovery.announcements, log: announceLog })
    const report = this.#options.selfReport ? track.report.bind(track) : undefined
    const provider = new Provider({ clock, documents, notary, owner, announcer, ...(report && { report }) })
    // Nodes that share a store also share subscriptions they hold, because an account may call through any of them.
    const held = shared ?? documents
    const records = new OwnRecords(held, clock, this.#options.sharedStore?.signals)
    const spend = new DailySpend(held, clock)
    const call = consumer.call.bind(consumer)
    const subscriptions = new OwnSubscriptions({
      clock,
      records,
      spend,
      call,
      requestIds: ids,
      self: link.self,
      resolve: this.resolve.bind(this),
      sold: desk.sold.bind(desk)
    })
    const planCaller = new PlanCaller({ clock, records, spend, call, subscriptions })
    return {
      owner,
      provider,
      track,
      announcer,
      calls,
      consumer,
      resolver,
      discovery,
      till,
      desk,
      spend,
      subscriptions,
      planCaller,
      trimmer: this.#trimmer(till)
    }
  }
}

/** Wraps the call handler to remember its callers, if `worth` is set. */
function valuing({ worth, bootstrap }: SoukOptions, till: Till, handler: CallHandler): CallHandler {
  worth?.learn(bootstrap, () => till.boundPeers?.() ?? [])
  return worth?.watching(handler) ?? handler
}

function kadDirectory({ dht, privateKey, logger }: SoukComponents, { clock, providerKey }: SoukOptions): Directory {
  if (dht === undefined) {
    throw new SoukError(
      'invalid_request',
      'Souk needs a libp2p service named "dht". Add `dht: soukDht({ network })` before it.'
    )
  }
  const log = logOf(logger, 'souk:resolve')
  return createKadDirectory({ dht, privateKey, clock, log, ...(providerKey === undefined ? {} : { providerKey }) })
}

/** libp2p's components throw for a service that does not exist. */
function gossipOf(components: SoukComponents, network: string, log: Logger): Gossip | undefined {
  let pubsub: GossipSub | undefined
  try {
    pubsub = components.pubsub
  } catch {
    return undefined
  }
  return pubsub === undefined ? undefined : new Libp2pGossip(pubsub, announcementTopic(network), log)
}
