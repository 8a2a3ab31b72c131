import type { KadDHT } from '@libp2p/kad-dht'
import { deadline, sleep, systemClock } from '../base/clock.ts'
import { READY_POLL_MS, TESTNET_JOIN_MS } from '../base/limits.ts'
import { createNode, type NodeOptions, type SoukNode } from '../create-node.ts'

export interface TestnetInit {
  /** How many nodes to start with. Default 2. */
  readonly nodes?: number
  /** Options of the node of that index; the first is the one the others join by. */
  readonly options?: (index: number) => NodeOptions
}

export interface Testnet {
  readonly nodes: readonly SoukNode[]
  /** Starts one more node on the same network, connected to the first. */
  add(options?: NodeOptions): Promise<SoukNode>
  /** Stops every node that still runs. */
  stop(): Promise<void>
}

/**
 * A whole Souk network in this process, over real sockets on loopback and free ports: every node is connected to the first
 * when the promise resolves. For tests of what you build on Souk.
 */
export async function createTestnet({ nodes = 2, options = () => ({}) }: TestnetInit = {}): Promise<Testnet> {
  const running: SoukNode[] = []

  const add = async (extra: NodeOptions = {}): Promise<SoukNode> => {
    const [first] = running
    const bootstrap = first?.libp2p.getMultiaddrs().map(String) ?? []
    const node = await createNode({ network: 'testnet', bootstrap, ...extra })
    running.push(node)
    await node.start()
    // A start does not wait for the network for ever; a test wants to be on it.
    if (first !== undefined) await Promise.all([hasNeighbours(node), hasNeighbours(first)])
    return node
  }

  const stop = async () => {
    // The first goes last, so that the others can say goodbye.
    await Promise.all(running.slice(1).map((node) => node.stop()))
    await running[0]?.stop()
  }

  try {
    for (let index = 0; index < nodes; index++) await add(options(index))
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes: running, add, stop }
}

async function hasNeighbours({ libp2p }: SoukNode): Promise<void> {
  // kad-dht has it, and its interface forgets it.
  const dht = libp2p.services.dht as KadDHT & { readonly routingTable: { readonly size: number } }
  const limit = deadline(systemClock, TESTNET_JOIN_MS, () => new Error('the node did not join the network in time'))
  try {
    while (dht.routingTable.size === 0) await sleep(systemClock, READY_POLL_MS, limit.signal)
  } finally {
    limit.clear()
  }
}
