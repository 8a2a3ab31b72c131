import { isGlobalUnicast, isPrivate, loopbackAddressLast, publicAddressesFirst } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'

/** A peer anywhere can dial the address: neither loopback, nor of a private network, nor of one link. */
function isPublic(address: Multiaddr): boolean {
  if (isPrivate(address)) return false
  return address.getComponents()[0]?.name !== 'ip6' || isGlobalUnicast(address)
}

/**
 * The addresses of this node that peers are told, best first: peers take the first `ADDRESSES_PER_PEER_MAX` only.
 * @param privateAddresses - the network lives on loopback or private addresses, so peers are told these as well
 */
export function announcedAddresses(addresses: readonly Multiaddr[], privateAddresses: boolean): Multiaddr[] {
  return addresses
    .filter((address) => privateAddresses || isPublic(address))
    .toSorted((a, b) => loopbackAddressLast(a, b) || publicAddressesFirst(a, b))
}
