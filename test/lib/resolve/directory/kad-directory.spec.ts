import { signDelegation } from '../../../../lib/resolve/directory/delegation.ts'
import { directorySuite } from '../../../suites/directory.ts'
import { type KadNode, kadNetwork, stopAll } from './kad-network.ts'

const nodes: KadNode[] = []

directorySuite('the DHT', {
  async open(size) {
    const network = await kadNetwork(size)
    nodes.push(...network)
    return network
  },
  close: () => stopAll(nodes),
  delegate: (peer, provider) => signDelegation({ peer, expiresAt: Date.now() + 60_000 }, provider)
})
