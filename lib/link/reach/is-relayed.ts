import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** Whether an address leads through a relay. */
export const isCircuit = (address: Multiaddr): boolean =>
  address.getComponents().some(({ name }) => name === 'p2p-circuit')

/** Whether a connection runs through a relay. A relay without limits sets no `limits`, so the address decides. */
export const isRelayed = ({ remoteAddr, limits }: Pick<Connection, 'remoteAddr' | 'limits'>): boolean =>
  limits !== undefined || isCircuit(remoteAddr)

/** Whether an address has a port to which networks that let only the web out let their machines connect. */
export const isOfWeb = (address: Multiaddr): boolean => {
  const tcp = address.getComponents().find(({ name }) => name === 'tcp')
  return tcp?.value === '443' || tcp?.value === '80'
}
