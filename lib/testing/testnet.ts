import type { KadDHT } from '@libp2p/kad-dht'
import { checkMembers, COUNT, FUNCTION, type MemberRules } from '../base/check-members.ts'
import { deadline, sleep, systemClock } from '../base/clock.ts'
import { READY_POLL_MS, TESTNET_JOIN_MS } from '../base/limits/link.ts'
import { createNode, type NodeOptions, type SoukNode } from '../create-node.ts'

export interface TestnetInit {
  /** Number of nodes at the start. Default 2. */
  readonly nodes?: number | undefined
  /** Options of the node with that index. The others join by the first node. */
  readonly options?: ((index: number) => NodeOptions) | undefined
}

const RULES: MemberRules<TestnetInit> = { nodes: COUNT, options: FUNCTION }

export interface Testnet {
  readonly nodes: readonly SoukNode[]
  /** Starts one more node on the same network, connected to the first. */
  add(options?: NodeOptions): Promise<SoukNode>
  /** Stops all running nodes. */
  stop(): Promise<void>
}

/**
 * Starts a whole Souk network in this process, over real loopback sockets and free ports. When it resolves, every node
 * is connected to the first. For tests of software that builds on Souk.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 *
 * @example
 * ```ts
 * import { handler } from 'souk'
 * import { createTestnet } from 'souk/testing'
 *
 * const testnet = await createTestnet({ nodes: 2 })
 * const [provider, consumer] = testnet.nodes
 * await provider?.souk.serve({ name: 'double', price: '0' }, handler(({ body }) => Number(body) * 2))
 * const reply = await consumer?.souk.call({ api: 'double', body: 21 })
 * console.log(await reply?.json()) // 42
 * await testnet.stop()
 * ```
 */
export async function createTestnet(init: TestnetInit = {}): Promise<Testnet> {
  checkMembers('The options of `createTestnet`', init, RULES)
  const { nodes = 2, options = () => ({}) } = init
  const running: SoukNode[] = []

  const add = async (extra: NodeOptions = {}): Promise<SoukNode> => {
    const [first] = running
    const bootstrap = first?.libp2p.getMultiaddrs().map(String) ?? []
    const node = await createNode({ network: 'testnet', bootstrap, ...extra })
    running.push(node)
    await node.start()
    // A start waits for the network only briefly, but a test needs it.
    if (first !== undefined) await Promise.all([hasNeighbours(node), hasNeighbours(first)])
    return node
  }

  const stop = async () => {
    // The first stops last, so that the others can disconnect cleanly.
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
  // kad-dht has this property, but its interface does not declare it.
  const dht = libp2p.services.dht as KadDHT & { readonly routingTable: { readonly size: number } }
  const limit = deadline(systemClock, TESTNET_JOIN_MS, () => new Error('the node did not join the network in time'))
  try {
    while (dht.routingTable.size === 0) await sleep(systemClock, READY_POLL_MS, limit.signal)
  } finally {
    limit.clear()
  }
}
