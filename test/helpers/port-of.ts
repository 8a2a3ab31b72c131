import type { Libp2p } from '@libp2p/interface'

/** The TCP port on which a node listens. */
export function portOf(node: Pick<Libp2p, 'getMultiaddrs'>): number {
  return Number(node.getMultiaddrs()[0]?.getComponents()[1]?.value)
}
