import { BlockList, isIP, isIPv4 } from 'node:net'

/**
 * Addresses of cloud metadata services, which serve a machine's credentials, and multicast addresses. Loopback and local networks
 * are allowed, because an API often runs beside its node.
 */
const NEVER = new BlockList()
NEVER.addSubnet('169.254.0.0', 16, 'ipv4') // link-local: AWS, Azure, Google, Oracle
NEVER.addAddress('100.100.100.200', 'ipv4') // Alibaba
NEVER.addAddress('168.63.129.16', 'ipv4') // Azure's host agent
NEVER.addAddress('192.0.0.192', 'ipv4') // Oracle's former one
NEVER.addSubnet('224.0.0.0', 4, 'ipv4') // multicast
NEVER.addAddress('255.255.255.255', 'ipv4')
NEVER.addSubnet('fe80::', 10, 'ipv6')
NEVER.addSubnet('fd00:ec2::', 32, 'ipv6') // AWS
NEVER.addAddress('fd20:ce::254', 'ipv6') // Google
NEVER.addSubnet('ff00::', 8, 'ipv6')

/** Prefixes of IPv6 addresses that contain an IPv4 address: mapped, compatible, and NAT64 (RFC 6052). */
const EMBEDDING = ['::ffff:0:0', '::', '64:ff9b::'] as const

/**
 * The canonical form of an address for comparison: the contained IPv4 address, without zone, shortest form. Undefined if it is
 * not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').split('%', 1)[0] ?? ''
  if (isIPv4(bare)) return bare
  if (isIP(bare) === 0) return undefined
  const groups = groupsOf(bare)
  for (const prefix of EMBEDDING) {
    const head = groupsOf(prefix).slice(0, 6)
    const isEmbedded = head.every((group, index) => group === groups[index])
    // `::` and `::1` do not contain an IPv4 address.
    if (isEmbedded && !(prefix === '::' && groups[6] === 0 && (groups[7] ?? 0) < 2)) {
      const [high = 0, low = 0] = groups.slice(6)
      return [high >> 8, high & 255, low >> 8, low & 255].join('.')
    }
  }
  return new URL(`http://[${bare}]`).hostname.slice(1, -1)
}

/** True for addresses that a node never connects to, whatever a provider registered. */
export function isNeverUpstream(address: string): boolean {
  const canonical = canonicalAddress(address)
  return canonical === undefined || NEVER.check(canonical, isIPv4(canonical) ? 'ipv4' : 'ipv6')
}

/** The eight groups of an IPv6 address, parsed with the URL standard. */
function groupsOf(address: string): number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [numbers(head), numbers(tail ?? '')]
  const between = Array.from({ length: 8 - first.length - last.length }, () => 0)
  return [...first, ...between, ...last]
}
