import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { GossipSub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { systemClock } from './base/clock.ts'
import {
  BULK_STREAMS_PER_PEER_MAX,
  CONNECTIONS_MAX,
  CONNECTIONS_PER_HOST_PER_SECOND,
  CONNECTIONS_PENDING_MAX,
  EARLY_STREAMS_MAX,
  HEARTBEAT_ANSWER_MS,
  HEARTBEAT_MS,
  LINK_BUFFER_BYTES_MAX,
  LINK_WINDOW_BYTES_MAX,
  RECONNECTS_MAX
} from './base/limits.ts'
import type { Souk } from './interface/souk.ts'
import { announcedAddresses } from './link/announced-addresses.ts'
import { corked } from './link/cork.ts'
import { interfaceAddresses } from './link/interface-addresses.ts'
import { noiseCrypto } from './link/noise-crypto.ts'
import { soukGossip } from './link/souk-gossip.ts'
import type { SoukInit } from './options.ts'
import { soukDht } from './resolve/dht.ts'
import { souk } from './service.ts'

export interface NodeOptions extends SoukInit {
  /** The node's identity, Ed25519. Default: a fresh one. */
  readonly privateKey?: PrivateKey
  /** Multiaddrs to listen on. Default: a free port on loopback. */
  readonly listen?: readonly string[]
  /** Multiaddrs to tell others instead of those found. */
  readonly announce?: readonly string[]
  /** The network lives on loopback or private addresses. Default true, as is the default `listen`. */
  readonly privateAddresses?: boolean
}

/** A libp2p node with Souk in it, for those who have none of their own. */
export interface SoukNode {
  readonly libp2p: Libp2p<{ dht: KadDHT; pubsub: GossipSub; souk: Souk }>
  readonly souk: Souk
  start(): Promise<void>
  /** Drains, then lets go of everything. */
  stop(): Promise<void>
}

/** Makes a node; it does nothing before `start`. Settings beside the reasons are in `base/limits.ts`. */
export async function createNode(options: NodeOptions = {}): Promise<SoukNode> {
  const { privateKey, listen = ['/ip4/127.0.0.1/tcp/0'], announce = [], privateAddresses = true, ...init } = options
  const { network = 'dev', clock = systemClock } = init
  const libp2p = await createLibp2p({
    start: false,
    privateKey: privateKey ?? (await generateKeyPair('Ed25519')),
    addresses: {
      listen: [...listen],
      announce: [...announce],
      // The operator's own list is told as it is.
      ...(announce.length > 0 ? {} : { announceFilter: (found) => announcedAddresses(found, privateAddresses) })
    },
    transports: [tcp()],
    connectionEncrypters: [corked(noise({ crypto: noiseCrypto() }))],
    streamMuxers: [
      yamux({
        maxInboundStreams: BULK_STREAMS_PER_PEER_MAX,
        maxOutboundStreams: BULK_STREAMS_PER_PEER_MAX,
        // Corked writes deliver many new streams at once; libp2p takes ten for an attack.
        maxEarlyStreams: EARLY_STREAMS_MAX,
        streamOptions: { maxStreamWindowSize: LINK_WINDOW_BYTES_MAX, maxWriteBufferLength: LINK_BUFFER_BYTES_MAX }
      })
    ],
    connectionManager: {
      maxConnections: CONNECTIONS_MAX,
      // On one machine, or behind one address, all peers are one host.
      inboundConnectionThreshold: privateAddresses ? CONNECTIONS_MAX : CONNECTIONS_PER_HOST_PER_SECOND,
      maxIncomingPendingConnections: CONNECTIONS_PENDING_MAX,
      reconnectRetries: RECONNECTS_MAX
    },
    connectionMonitor: { pingInterval: HEARTBEAT_MS, pingTimeout: { minTimeout: HEARTBEAT_ANSWER_MS } },
    // A network of private addresses has to dial them.
    ...(privateAddresses ? { connectionGater: { denyDialMultiaddr: () => false } } : {}),
    services: {
      identify: identify(),
      ping: ping(),
      interfaces: interfaceAddresses({ clock }),
      dht: soukDht({ network, privateAddresses, clock }),
      pubsub: soukGossip({ network, privateAddresses }),
      souk: souk(init)
    }
  })
  return {
    libp2p,
    souk: libp2p.services.souk,
    start: async () => libp2p.start(),
    stop: async () => libp2p.stop()
  }
}
