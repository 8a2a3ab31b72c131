import type { Multiaddr } from '@multiformats/multiaddr'
import { isNotPublic } from './public-addresses.ts'

/** The origin of a connection, derived from its address. */
export interface Host {
  /** Key of one host: an IPv4 address, an IPv6 /64, or a relay. */
  readonly key: string
  /** The /48 of an IPv6 address, which contains 65,536 hosts and costs no more than one. */
  readonly site?: string
  /** Loopback, private and link-local addresses: a proxy, a container's bridge or a LAN, with any number of peers. */
  readonly isPrivate: boolean
}

/** A peer behind a relay counts as the relay. Undefined for an address without an IP address. */
export function hostOf(address: Multiaddr): Host | undefined {
  const components = address.getComponents()
  const circuit = components.findIndex(({ name }) => name === 'p2p-circuit')
  if (circuit >= 0) {
    const relay = components.slice(0, circuit).findLast(({ name }) => name === 'p2p')?.value
    return { key: `relay ${relay ?? 'unknown'}`, isPrivate: false }
  }
  const ip = components.find(({ name }) => name === 'ip4' || name === 'ip6')
  if (ip?.value === undefined) return undefined
  if (ip.name === 'ip4') return { key: ip.value, isPrivate: isNotPublic(address) }
  const groups = groupsOf(ip.value)
  const mapped = mappedIn(groups)
  if (mapped !== undefined) return { key: mapped, isPrivate: isNotPublic(address) }
  const prefix = (length: number) =>
    groups
      .slice(0, length)
      .map((group) => group.toString(16))
      .join(':')
  return { key: `${prefix(4)}::/64`, site: `${prefix(3)}::/48`, isPrivate: isNotPublic(address) }
}

/** The eight groups of an IPv6 address (RFC 4291, section 2.2), also with an IPv4 address at its end. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.toLowerCase().replace(/%.*$/, '').split('::')
  const groups = (part: string) =>
    part.split(':').flatMap((group) => {
      if (group === '') return []
      if (!group.includes('.')) return [Number.parseInt(group, 16)]
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
      return [a * 256 + b, c * 256 + d]
    })
  const [front, back] = [groups(head), tail === undefined ? [] : groups(tail)]
  return [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => 0), ...back]
}

/** A socket that listens on `::` reports IPv4 peers as ::ffff:a.b.c.d. */
function mappedIn(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  if (groups[5] !== 0xff_ff || groups.slice(0, 5).some((group) => group !== 0)) return undefined
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
