import { noise } from '@chainsafe/libp2p-noise'
import type { Connection, Libp2p } from '@libp2p/interface'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { PATIENCE_MS_MIN } from './eventually.ts'

/** Many identities on one host that connect to a node and stay idle. */
export interface Flood {
  /** Number of open connections. */
  open(): number
  /** Number of identities without a connection, or without a stream on it. */
  readonly refused: number
  stop(): Promise<void>
}

export interface FloodInit {
  readonly at: readonly Multiaddr[]
  readonly identities: number
  /** The address to connect from. On Linux, all of 127.0.0.0/8 is this machine. */
  readonly from: string
  /** A protocol on which each identity opens a stream and keeps it open. */
  readonly holding?: string
  /** Number of connections that are opened in parallel. */
  readonly atOnce?: number
}

export async function flood({ at, identities, from, holding, atOnce = 8 }: FloodInit): Promise<Flood> {
  // `net.connect` accepts it, but libp2p's type of these options lacks it.
  const dialOpts = { noDelay: true, localAddress: from }
  const nodes: Libp2p[] = []
  const connections: Connection[] = []
  let refused = 0
  let left = identities
  const connectAll = async () => {
    while (left-- > 0) {
      const node = await createLibp2p({
        addresses: { listen: [] },
        transports: [tcp({ dialOpts })],
        connectionEncrypters: [noise()],
        streamMuxers: [yamux()],
        connectionGater: { denyDialMultiaddr: () => false },
        connectionManager: { dialTimeout: PATIENCE_MS_MIN },
        services: { identify: identify() }
      })
      nodes.push(node)
      try {
        const connection = await node.dial([...at])
        connections.push(connection)
        if (holding !== undefined) await connection.newStream(holding)
      } catch {
        refused++
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, connectAll))
  return {
    open: () => connections.filter(({ status }) => status === 'open').length,
    get refused() {
      return refused
    },
    async stop() {
      await Promise.all(nodes.map(async (node) => node.stop()))
    }
  }
}
