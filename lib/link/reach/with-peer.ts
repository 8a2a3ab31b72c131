import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** The address with the peer's id at its end. */
export function withPeer(address: Multiaddr, peer: string): Multiaddr {
  const last = address.getComponents().at(-1)
  return last?.name === 'p2p' && last.value === peer ? address : multiaddr(`${address.toString()}/p2p/${peer}`)
}
