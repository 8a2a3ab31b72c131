import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Whether an address leads through a relay. */
export const isCircuit = (address: Multiaddr): boolean =>
  address.getComponents().some(({ name }) => name === 'p2p-circuit')

/** Whether a connection runs through a relay. A relay without limits sets no `limits`, so the address decides. */
export const isRelayed = ({ remoteAddr, limits }: Pick<Connection, 'remoteAddr' | 'limits'>): boolean =>
  limits !== undefined || isCircuit(remoteAddr)
