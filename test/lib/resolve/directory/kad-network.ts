import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { Ed25519PrivateKey, Libp2p, Logger } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { systemClock } from '../../../../lib/base/clock.ts'
import type { Directory } from '../../../../lib/interface/directory.ts'
import { soukDht } from '../../../../lib/resolve/directory/dht.ts'
import { createKadDirectory } from '../../../../lib/resolve/directory/kad-directory.ts'
import { eventually } from '../../../helpers/eventually.ts'

export interface KadNode {
  readonly libp2p: Libp2p
  readonly dht: KadDHT
  readonly directory: Directory
  readonly privateKey: Ed25519PrivateKey
  readonly self: string
}

/** Replaces libp2p's own, which creates a scope per connection and stream and costs fifty nodes a second. */
const silent: Logger = Object.assign(() => {}, {
  error: () => {},
  trace: () => {},
  enabled: false,
  newScope: () => silent
})

/** A libp2p node on loopback with the DHT of a Souk network. */
async function kadNode(): Promise<KadNode> {
  const privateKey = await generateKeyPair('Ed25519')
  const libp2p = await createLibp2p({
    privateKey,
    logger: { forComponent: () => silent },
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionManager: { inboundConnectionThreshold: 1_000, maxIncomingPendingConnections: 200 },
    connectionMonitor: { enabled: false },
    services: { identify: identify(), ping: ping(), dht: soukDht({ network: 'dev', privateAddresses: true }) }
  })
  const { dht } = libp2p.services
  const directory = createKadDirectory({ dht, privateKey, clock: systemClock })
  return { libp2p, dht, directory, privateKey, self: libp2p.peerId.toString() }
}

/** Nodes that join at the same time: more of them make each other's handshakes time out on a slow machine. */
const JOINING = 8

/** Starts `size` nodes connected to the first one. Resolves when their routing tables are full. */
export async function kadNetwork(size: number): Promise<KadNode[]> {
  const nodes: KadNode[] = []
  try {
    while (nodes.length < size) {
      const [first] = nodes
      const joining = first === undefined ? 1 : Math.min(JOINING, size - nodes.length)
      const batch = await Promise.all(Array.from({ length: joining }, kadNode))
      nodes.push(...batch)
      if (first !== undefined) await Promise.all(batch.map(({ libp2p }) => libp2p.dial(first.libp2p.getMultiaddrs())))
    }
    await Promise.all(nodes.map((node) => knows(node, Math.min(size - 1, 5))))
    return nodes
  } catch (error) {
    await stopAll(nodes)
    throw error
  }
}

/** One more node, known to the first and added to the list. */
export async function joinKadNetwork(nodes: KadNode[]): Promise<KadNode> {
  const node = await kadNode()
  const [first] = nodes
  if (first !== undefined) {
    await node.libp2p.dial(first.libp2p.getMultiaddrs())
    await knows(node, nodes.length)
  }
  nodes.push(node)
  return node
}

export async function stopAll(nodes: readonly KadNode[]): Promise<void> {
  await Promise.all(nodes.map(async ({ libp2p }) => libp2p.stop()))
}

/** Waits until the routing table has this many peers. */
async function knows({ dht }: KadNode, peers: number): Promise<void> {
  const { routingTable } = dht as KadDHT & { routingTable: { readonly size: number } }
  const what = `${peers} peers in the routing table`
  await eventually(what, 10_000, () => (routingTable.size < peers ? undefined : true))
}
