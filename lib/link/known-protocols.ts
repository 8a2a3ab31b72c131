import type { Libp2p, Peer } from '@libp2p/interface'

/**
 * libp2p stores the protocol of each new stream with its peer: it reads, decodes and compares the stored peer. This
 * function makes it do so once per protocol of a connected peer, until the stored peer changes.
 */
export function storeProtocolsOnce(node: Pick<Libp2p, 'peerStore' | 'getConnections' | 'addEventListener'>): void {
  const { peerStore } = node
  const merge = peerStore.merge.bind(peerStore)
  const stored = new Map<string, Map<string, Peer>>()
  node.addEventListener('peer:disconnect', ({ detail: peer }) => void stored.delete(peer.toString()))
  node.addEventListener('peer:update', ({ detail: { peer } }) => void stored.delete(peer.id.toString()))
  peerStore.merge = async (id, data, options) => {
    const [protocol, ...others] = data.protocols ?? []
    const isOne = protocol !== undefined && others.length === 0 && Object.keys(data).length === 1
    if (!isOne) return merge(id, data, options)
    const key = id.toString()
    const known = stored.get(key)?.get(protocol)
    if (known !== undefined) return known
    const peer = await merge(id, data, options)
    // Otherwise nothing would remove it again.
    if (node.getConnections(id).length > 0) {
      const protocols = stored.get(key) ?? new Map<string, Peer>()
      stored.set(key, protocols.set(protocol, peer))
    }
    return peer
  }
}
