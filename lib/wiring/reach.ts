import type { GossipSub } from '@libp2p/gossipsub'
import { multiaddr } from '@multiformats/multiaddr'
import { type Clock, deadline } from '../base/clock.ts'
import { logOf } from '../base/component-log.ts'
import { SoukError } from '../base/errors.ts'
import { JOIN_MS } from '../base/limits/link.ts'
import { RELAY_READY_MS } from '../base/limits/reach.ts'
import { PeerClocks } from '../base/peer-clocks.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import type { Directory } from '../interface/directory.ts'
import type { Reachability } from '../interface/reachability.ts'
import type { Gossip } from '../interface/gossip.ts'
import type { Documents } from '../interface/store.ts'
import { transportAddresses } from '../link/interface-addresses.ts'
import { DialBack } from '../link/reach/dial-back.ts'
import { LinkKeeper } from '../link/reach/link-keeper.ts'
import { ReachMonitor } from '../link/reach/reach-monitor.ts'
import { NO_RELAYS, relayNeed } from '../link/reach/relay-need.ts'
import { RelayKeeper } from '../link/reach/relay-keeper.ts'
import { Reversals } from '../link/reach/reversals.ts'
import { Libp2pGossip } from '../link/libp2p-gossip.ts'
import { Libp2pLink } from '../link/libp2p-link.ts'
import { listening } from '../link/listening.ts'
import { MeshKeeper, type MeshKeeperInit } from '../link/mesh-keeper.ts'
import { Neighbours } from '../link/neighbours.ts'
import { announcementTopic } from '../link/souk-gossip.ts'
import type { SoukOptions } from '../options.ts'
import { meetPeers } from '../resolve/directory/meet-peers.ts'
import { createKadDirectory } from '../resolve/directory/kad-directory.ts'
import type { SoukComponents } from './souk-components.ts'

/** The connection between this node and others. It exists before the service starts. */
export interface Reach {
  readonly link: Libp2pLink
  readonly directory: Directory
  readonly neighbours: Neighbours
  readonly gossip: Gossip | undefined
  readonly clocks: PeerClocks
  /** Announced multiaddrs with the peer id, or the listen addresses where none are announced. */
  addresses(): string[]
  status(): Reachability
  /** Resolves when this node is on the network, or after `JOIN_MS`; joining then continues in the background. */
  join(): Promise<void>
  /** Resolves when peers can find this node, and dial it or one of its relays, or after `JOIN_MS` and `RELAY_READY_MS`. */
  reachable(): Promise<void>
  leave(): void
}

/**
 * @param serves - whether this node serves APIs, so that other nodes have to reach it
 * @throws SoukError `invalid_request` where the libp2p node has no `dht`
 */
export function createReach(
  components: SoukComponents,
  options: SoukOptions,
  documents: Documents,
  serves: () => boolean
): Reach {
  const { clock, bootstrap, network, privateAddresses, worth } = options
  // Listed one by one, because libp2p's components are a proxy that cannot be spread.
  const { connectionManager, transportManager, events, addressManager, peerStore, peerId, logger } = components
  const link = new Libp2pLink(components, clock)
  const directory = options.directory ?? kadDirectory(components, options)
  const log = logOf(logger, 'souk:link')
  const neighbours = new Neighbours({ connectionManager, events, documents, clock, bootstrap, worth, log })
  const dialBack = new DialBack({ link, connectionManager, transportManager, network, privateAddresses, clock, log })
  dialBack.serve()
  const common = { addressManager, connectionManager, transportManager, peerStore, events, clock, log }
  const reversals = new Reversals({ dialBack, link, status: () => monitor.status(), clock, log })
  link.onRelayed = (channel) => void reversals.start(channel)
  const clocks = new PeerClocks(clock, () => tell())
  const changed = changesOnly(options.onReach)
  let firstRelay: PromiseWithResolvers<void> | undefined
  const status = () => ({ ...monitor.status(), clockAheadMs: clocks.aheadMs })
  const tell = () => {
    const reach = status()
    changed(reach)
    if (reach.relays.length === 0) return
    firstRelay?.resolve()
    firstRelay = undefined
  }
  const isWanted = () => serves() && monitor.needsRelay
  const need = () => (serves() ? relayNeed(monitor, transportAddresses(addressManager).map(String)) : NO_RELAYS)
  const relays = new RelayKeeper({ ...common, bootstrap, need, onChange: tell })
  const isBehindRouter = () => need().gaps.includes('router')
  const candidates = () => neighbours.dialable()
  const links = new LinkKeeper({ ...common, candidates, isWanted, isBehindRouter })
  const gossip = gossipOf(components, network)
  // Without gossip, a node needs no neighbours for it.
  const mesh = gossip && meshKeeper(components, options, { gossip, candidates, log })
  const monitor: ReachMonitor = new ReachMonitor({
    ...common,
    dialBack,
    bootstrap: new Set(bootstrap.flatMap((address) => multiaddr(address).getComponents().at(-1)?.value ?? [])),
    privateAddresses,
    relays: () => relays.relays,
    mapped: () => options.portMapping?.mapped,
    onChecked: () => {
      relays.wake()
      tell()
    }
  })
  options.portMapping?.onChange(() => monitor.wake())
  const reachable = async () => {
    relays.wake()
    if (link.peers().length === 0) return
    await directoryReady(directory, clock)
    if (!isWanted() || relays.relays.length > 0) return
    firstRelay ??= Promise.withResolvers()
    await waitAtMost(clock, RELAY_READY_MS, firstRelay.promise)
  }
  return {
    link,
    directory,
    neighbours,
    gossip,
    clocks,
    addresses() {
      const announced = addressManager.getAddresses().map(String)
      if (announced.length > 0) return announced
      return transportAddresses(addressManager).map((address) => `${address.toString()}/p2p/${link.self}`)
    },
    status,
    async join() {
      await listening(components, clock)
      // The DHT responds to others only when the peer store has a public address of this node, and libp2p puts it there a second later.
      await peerStore.patch(peerId, { multiaddrs: addressManager.getAddresses() })
      monitor.start()
      relays.start()
      links.start()
      await waitAtMost(clock, JOIN_MS, neighbours.start())
      mesh?.start()
      await reachable()
    },
    reachable,
    leave() {
      links.stop()
      relays.stop()
      monitor.stop()
      mesh?.stop()
      neighbours.stop()
    }
  }
}

/** Passes on what differs from the time before. */
function changesOnly(onReach: SoukOptions['onReach']): (reach: Reachability) => void {
  let told = ''
  return (reach) => {
    const { state, isConfirmed, relays, addresses, clockAheadMs = 0 } = reach
    const now = JSON.stringify([state, isConfirmed, relays.length, addresses, Math.sign(clockAheadMs)])
    if (told !== now) onReach?.(reach)
    told = now
  }
}

/** A peer is connected a moment before the directory asks it. An announcement in between would reach nobody. */
async function directoryReady(directory: Directory, clock: Clock): Promise<void> {
  const limit = deadline(clock, JOIN_MS, () => new Error('the directory has no peers yet'))
  await directory.ready(limit.signal)
  limit.clear()
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

function meshKeeper(
  { connectionManager, dht }: SoukComponents,
  { clock, random }: SoukOptions,
  init: Pick<MeshKeeperInit, 'gossip' | 'candidates' | 'log'>
): MeshKeeper {
  const explore = async (signal: AbortSignal) => {
    if (dht !== undefined) await meetPeers(dht, random, signal)
  }
  return new MeshKeeper({ ...init, connectionManager, explore, clock, random })
}

/** libp2p's components throw for a service that does not exist. */
function gossipOf(components: SoukComponents, network: string): Libp2pGossip | undefined {
  let pubsub: GossipSub | undefined
  try {
    pubsub = components.pubsub
  } catch {
    return undefined
  }
  const log = logOf(components.logger, 'souk:announce')
  if (pubsub === undefined) return undefined
  const { registrar, peerStore } = components
  return new Libp2pGossip({ pubsub, registrar, peerStore, topic: announcementTopic(network), log })
}
