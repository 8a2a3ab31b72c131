import { BlockList, isIPv4 } from 'node:net'
import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * Addresses that are not hosts on the Internet: IANA's special-purpose addresses (RFC 6890), multicast, and IPv6
 * outside 2000::/3. It includes tunnels that lead to any IPv4 address.
 */
export const NOT_PUBLIC = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3]
] as const) {
  NOT_PUBLIC.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1]
] as const) {
  NOT_PUBLIC.addSubnet(network, bits, 'ipv6')
}
// ::/3 without ::ffff:0:0/96, because an IPv4 address is checked in its mapped form as well.
NOT_PUBLIC.addRange('::', '::fffe:ffff:ffff', 'ipv6')
NOT_PUBLIC.addRange('::1:0:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ipv6')

const GLOBAL_UNICAST = new BlockList()
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is a host on the Internet. False for an IPv4-mapped IPv6 address. */
export function isPublicIp(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4')
  return GLOBAL_UNICAST.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6')
}

/** Sockets of this machine: libp2p's TCP dials Unix sockets as well. */
const LOCAL: ReadonlySet<string> = new Set(['unix', 'memory'])

/** Whether a multiaddr starts with a non-public IP address or a socket of this machine. Host names are checked when they are resolved. */
export function isNotPublic(address: Multiaddr): boolean {
  const components = address.getComponents()
  if (components.some(({ name }) => LOCAL.has(name))) return true
  const ip = components.find(({ name }) => name === 'ip4' || name === 'ip6')
  return ip?.value !== undefined && NOT_PUBLIC.check(ip.value, ip.name === 'ip4' ? 'ipv4' : 'ipv6')
}
