import { isGlobalUnicast, isPrivate, loopbackAddressLast, publicAddressesFirst } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import { hostOf } from './host-of.ts'

/** True for an address that any peer can dial: not loopback, private or link-local. */
function isPublic(address: Multiaddr): boolean {
  if (isPrivate(address)) return false
  return address.getComponents()[0]?.name !== 'ip6' || isGlobalUnicast(address)
}

/**
 * The addresses that this node announces, best first, because peers use the first `ADDRESSES_PER_PEER_MAX` only.
 * @param privateAddresses - the network uses loopback or private addresses, so these are announced too
 */
export function announcedAddresses(addresses: readonly Multiaddr[], privateAddresses: boolean): Multiaddr[] {
  const usable = addresses.filter((address) => privateAddresses || isPublic(address))
  return [...Map.groupBy(usable, placeOf).values()]
    .flatMap(([first, ...more]) => (first === undefined ? [] : [first, ...more.slice(-1)]))
    .toSorted((a, b) => loopbackAddressLast(a, b) || publicAddressesFirst(a, b))
}

/**
 * Addresses of one place are equally reachable, so its first and its last are announced. An interface has a permanent
 * IPv6 address, and a week of temporary ones (RFC 8981) in the same /64. The permanent one is the first or the last.
 */
function placeOf(address: Multiaddr): string {
  const [host, ...rest] = address.getComponents()
  if (host?.name !== 'ip6') return address.toString()
  return [hostOf(address)?.key, ...rest.flatMap(({ name, value = '' }) => [name, value])].join('/')
}
