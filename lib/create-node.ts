import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { GossipSub } from '@libp2p/gossipsub'
import { identify, identifyPush } from '@libp2p/identify'
import type { ComponentLogger, Libp2p, PrivateKey } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { ping } from '@libp2p/ping'
import { yamux } from '@libp2p/yamux'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { checkMembers, COUNT, FLAG, FUNCTIONS, LOGGER, type MemberRules, OBJECT, TEXTS } from './base/check-members.ts'
import { type Clock, systemClock } from './base/clock.ts'
import {
  DHT_CLAIMS_MAX,
  DHT_CLAIMS_PER_KEY_MAX,
  DHT_CLAIMS_PER_PEER_MAX,
  DHT_RECORDS_MAX
} from './base/limits/directory.ts'
import {
  CONNECTION_UPGRADE_MS,
  CONNECTIONS_MAX,
  CONNECTIONS_PENDING_MAX,
  DIAL_PEER_MS,
  DIALS_AT_ONCE,
  DIALS_PER_PEER_MAX,
  DIALS_WAITING_MAX,
  EARLY_STREAMS_MAX,
  LINK_BUFFER_BYTES_MAX,
  LINK_RTT_MS,
  LINK_WINDOW_BYTES_MAX,
  PEERS_STORED_MAX,
  RECONNECTS_MAX,
  STREAMS_PER_CONNECTION_MAX
} from './base/limits/link.ts'
import { Mutex } from './base/mutex.ts'
import type { Souk } from './interface/souk.ts'
import { announcedAddresses } from './link/announced-addresses.ts'
import { BoundedDatastore } from './link/bounded-datastore.ts'
import { boundedMuxer } from './link/bounded-muxer.ts'
import { boundPeers } from './link/bounded-peers.ts'
import { ConnectionGuard, type ConnectionRules } from './link/connection-guard.ts'
import { corked } from './link/cork.ts'
import { eagerMuxer, eagerTransport } from './link/eager-select.ts'
import { heartbeat } from './link/heartbeat.ts'
import { interfaceAddresses } from './link/interface-addresses.ts'
import { storeProtocolsOnce } from './link/known-protocols.ts'
import { lanDiscovery } from './link/lan-discovery.ts'
import { consumeAtOnce } from './link/long-lists.ts'
import { noiseCrypto } from './link/noise-crypto.ts'
import { PeerWorth } from './link/peer-worth.ts'
import { isNotPublic } from './link/public-addresses.ts'
import { relayGater, type RelayFor, soukRelay } from './link/reach/relay-policy.ts'
import { soukCircuits } from './link/reach/souk-circuits.ts'
import { staggeredDials } from './link/reach/staggered-dials.ts'
import { soukGossip } from './link/souk-gossip.ts'
import { soukTcp } from './link/souk-tcp.ts'
import { soukWebSockets } from './link/websocket/souk-websockets.ts'
import { parseMultiaddr, SOUK_RULES, type SoukInit } from './options.ts'
import { DHT_DATASTORE, soukDht } from './resolve/directory/dht.ts'
import { souk } from './service.ts'

export interface NodeOptions extends SoukInit {
  /** The node's identity, Ed25519. Default: a new key. */
  readonly privateKey?: PrivateKey | undefined
  /**
   * libp2p transports. Default: `soukTcp` and `soukWebSockets` with `{ privateAddresses }`, and libp2p's relay transport. `listen` addresses must
   * belong to these transports.
   * A transport that resolves DNS names must itself reject private addresses.
   */
  readonly transports?: NonNullable<Libp2pOptions['transports']> | undefined
  /** Multiaddrs to listen on. Default: a free TCP port on loopback. */
  readonly listen?: readonly string[] | undefined
  /** Multiaddrs to announce instead of the detected ones. */
  readonly announce?: readonly string[] | undefined
  /** The network uses loopback or private addresses. Default true, which fits the default `listen`. */
  readonly privateAddresses?: boolean | undefined
  /** Finds peers of the same network on the LAN by multicast DNS. Only with `privateAddresses`. Default false. */
  readonly mdns?: boolean | undefined
  /** For which nodes this one relays while they cannot be dialled. Default `anyone`. */
  readonly relay?: RelayFor | undefined
  /** Limits of connections. */
  readonly connections?: ConnectionRules | undefined
  /**
   * Creates the logs of Souk's components (`souk:call`) and of libp2p's (`libp2p:tcp`). Default: `@libp2p/logger`,
   * which the environment variable `DEBUG` enables. Stores have an option of the same name.
   */
  readonly logger?: ComponentLogger | undefined
}

const NODE_RULES: MemberRules<NodeOptions> = {
  ...SOUK_RULES,
  privateKey: {
    fits: (key) => OBJECT.fits(key) && (key as PrivateKey).type === 'Ed25519',
    what: "an Ed25519 key, such as `await generateKeyPair('Ed25519')` of @libp2p/crypto/keys"
  },
  transports: FUNCTIONS,
  listen: TEXTS,
  announce: TEXTS,
  mdns: FLAG,
  relay: { fits: (relay) => relay === 'anyone' || relay === 'known', what: '"anyone" or "known"' },
  connections: OBJECT,
  logger: LOGGER
}

const CONNECTION_RULES: MemberRules<ConnectionRules> = {
  connectionsMax: COUNT,
  perHostMax: COUNT,
  perHostPerSecond: COUNT,
  pendingPerHostMax: COUNT,
  countsPrivate: FLAG
}

/** A libp2p node with Souk, for programs without a libp2p node of their own. */
export interface SoukNode {
  readonly libp2p: Libp2p<{ dht: KadDHT; pubsub: GossipSub; souk: Souk }>
  readonly souk: Souk
  /** Waits for a running stop. A node may start again after its stop. */
  start(): Promise<void>
  /** Waits for a running start, so `prepare` must not wait for it. Waits for running calls, then closes everything. */
  stop(): Promise<void>
}

/** Limits of the data that other peers make a node store in memory. */
const STORED = [
  { prefix: '/peers/', entriesMax: PEERS_STORED_MAX },
  { prefix: `${DHT_DATASTORE}/record/`, entriesMax: DHT_RECORDS_MAX },
  {
    prefix: `${DHT_DATASTORE}/provider/`,
    entriesMax: DHT_CLAIMS_MAX,
    perFolderMax: DHT_CLAIMS_PER_KEY_MAX,
    perNameMax: DHT_CLAIMS_PER_PEER_MAX
  }
]

/** Streams of one connection, with bounds for what a peer opens, delays and makes this node keep. */
function streamMuxer(clock: Clock) {
  const streams = yamux({
    maxInboundStreams: STREAMS_PER_CONNECTION_MAX,
    maxOutboundStreams: STREAMS_PER_CONNECTION_MAX,
    // Corked writes deliver many new streams at once. libp2p's default of ten would treat that as an attack.
    maxEarlyStreams: EARLY_STREAMS_MAX,
    keepAliveInterval: LINK_RTT_MS,
    streamOptions: { maxStreamWindowSize: LINK_WINDOW_BYTES_MAX, maxWriteBufferLength: LINK_BUFFER_BYTES_MAX }
  })
  return eagerMuxer(boundedMuxer(streams, clock))
}

/**
 * Creates a node, not started. Throws `invalid_request` for an option of a wrong name or type. `base/limits.ts` gives the reasons of the settings.
 *
 * @example
 * ```ts
 * import { createNode, handler } from 'souk'
 *
 * const node = await createNode()
 * await node.start()
 * const double = handler(({ body }) => Number(body) * 2)
 * await node.souk.serve({ name: 'double', price: '0' }, double)
 * const reply = await node.souk.call({ api: 'double', body: 21 })
 * console.log(await reply.json()) // 42
 * await node.stop()
 * ```
 */
export async function createNode(options: NodeOptions = {}): Promise<SoukNode> {
  checkMembers('The options', options, NODE_RULES)
  checkMembers('`connections`', options.connections ?? {}, CONNECTION_RULES)
  consumeAtOnce()
  const {
    privateKey = await generateKeyPair('Ed25519'),
    listen = ['/ip4/127.0.0.1/tcp/0'],
    announce = [],
    privateAddresses = true,
    transports = [soukTcp({ privateAddresses }), soukWebSockets({ privateAddresses }), soukCircuits()],
    connections = {},
    logger = defaultLogger(),
    relay: relayFor = 'anyone',
    mdns: isOnLan = false,
    ...init
  } = options
  const { network = 'dev', clock = systemClock } = init
  // libp2p parses announced addresses in a timer, so an error there would end the process.
  for (const address of [...listen, ...announce]) parseMultiaddr(address)
  const { connectionsMax = CONNECTIONS_MAX } = connections
  // Loaded only where it is used.
  const { mdns } = isOnLan && privateAddresses ? await import('@libp2p/mdns') : {}
  const self = peerIdFromPrivateKey(privateKey)
  const worth = new PeerWorth(clock)
  const guard = new ConnectionGuard(connections, worth, clock)
  const isReachable = () => /^direct$|^private$/.test(libp2p.services.souk.status().reachability.state)
  const libp2p: SoukNode['libp2p'] = await createLibp2p({
    start: false,
    privateKey,
    logger,
    datastore: new BoundedDatastore(STORED, [self.toString(), self.toCID().toString()]),
    addresses: {
      listen: [...listen],
      announce: [...announce],
      // Announce addresses set by the operator are not filtered.
      ...(announce.length > 0 ? {} : { announceFilter: (found) => announcedAddresses(found, privateAddresses) })
    },
    transports: transports.map((transport) => eagerTransport(transport)),
    connectionEncrypters: [corked(noise({ crypto: noiseCrypto() }))],
    streamMuxers: [streamMuxer(clock)],
    connectionManager: {
      // The guard keeps the number below this, and closes the least valuable connection. libp2p would refuse the
      // newest.
      maxConnections: connectionsMax + CONNECTIONS_PENDING_MAX,
      // The guard counts by host, where an IPv6 /64 is one host.
      inboundConnectionThreshold: Number.POSITIVE_INFINITY,
      // The guard ends the oldest handshake instead of refusing the newest.
      maxIncomingPendingConnections: Number.POSITIVE_INFINITY,
      reconnectRetries: RECONNECTS_MAX,
      maxParallelDials: DIALS_AT_ONCE,
      maxDialQueueLength: DIALS_WAITING_MAX,
      maxPeerAddrsToDial: DIALS_PER_PEER_MAX,
      // `staggeredDials` dials all addresses within the time of the first, each for `DIAL_ADDRESS_MS`.
      addressDialTimeout: DIAL_PEER_MS,
      inboundUpgradeTimeout: CONNECTION_UPGRADE_MS
    },
    // The heartbeat replaces it.
    connectionMonitor: { enabled: false },
    // A private network must dial private addresses. Elsewhere, a record with private addresses could make this node
    // attack its own LAN.
    connectionGater: {
      ...guard.gater,
      ...relayGater({ relayFor, worth, isReachable, clock }),
      denyDialMultiaddr: (address) => !privateAddresses && isNotPublic(address)
    },
    services: {
      identify: identify(),
      // Tells connected peers when this node's addresses change, or when it starts to serve the DHT.
      identifyPush: identifyPush(),
      ping: ping(),
      heartbeat: heartbeat({ clock }),
      dials: staggeredDials({ clock }),
      interfaces: interfaceAddresses({ clock }),
      dht: soukDht({ network, privateAddresses, clock }),
      pubsub: soukGossip({ network, privateAddresses }),
      relay: soukRelay({ clock }),
      ...(mdns === undefined ? {} : { lan: lanDiscovery({ mdns, network, clock }) }),
      souk: souk({ ...init, privateAddresses, worth })
    }
  })
  guard.watch(libp2p)
  boundPeers(libp2p.peerStore)
  storeProtocolsOnce(libp2p)
  // libp2p ignores a stop during a start, and a second call returns before the first has ended.
  const turns = new Mutex()
  return {
    libp2p,
    souk: libp2p.services.souk,
    start: () => turns.run(async () => libp2p.start()),
    stop: () => turns.run(async () => libp2p.stop())
  }
}
