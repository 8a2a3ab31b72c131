import { BlockList, isIPv4 } from 'node:net'
import type { UpstreamGuard } from '../../lib/interface/index.ts'

/** IANA's special-purpose addresses (RFC 6890): none of them is a host on the Internet. */
const NOT_PUBLIC = new BlockList()
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
/** What of IPv6 is on the Internet at all, and what of that is not: tunnels that lead to any IPv4 address among it. */
const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20]
] as const) {
  NOT_PUBLIC.addSubnet(network, bits, 'ipv6')
}

/**
 * Keeps webhooks on the Internet: an address of this machine, or of a network that it stands in, would be reached with the node's rights.
 *
 * @param own - what no request of this node goes to, allowed or not
 */
export function webhookGuard(own: UpstreamGuard | undefined, allowsPrivate: boolean): UpstreamGuard {
  return {
    refuses(host, address, port) {
      if (own?.refuses(host, address, port) === true) return true
      return !allowsPrivate && !isPublic(address)
    }
  }
}

function isPublic(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4')
  return GLOBAL.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6')
}
