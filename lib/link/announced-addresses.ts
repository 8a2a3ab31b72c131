import { isGlobalUnicast, isPrivate, loopbackAddressLast, publicAddressesFirst } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'

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
  return addresses
    .filter((address) => privateAddresses || isPublic(address))
    .toSorted((a, b) => loopbackAddressLast(a, b) || publicAddressesFirst(a, b))
}
