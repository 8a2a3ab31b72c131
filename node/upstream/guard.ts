import { lookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { UpstreamGuard } from '../../lib/interface/index.ts'

/** Networks that are not public: such an address belongs to this machine or to a neighbour. */
const PRIVATE = new BlockList()
PRIVATE.addSubnet('0.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('127.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4')
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4')
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4')
PRIVATE.addAddress('::', 'ipv6')
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('0.0.0.0', 8, 'ipv4')
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::', 'ipv6')
LOOPBACK.addAddress('::1', 'ipv6')

/** Refuses upstreams at addresses of this node, and of services that it trusts, such as its chain’s endpoint. */
export class NodeGuard implements UpstreamGuard {
  readonly #ports = new Set<number>()
  /** `host:port`, for names and addresses. */
  readonly #services = new Set<string>()

  /** Adds a port of this node, on any address of this machine. */
  addPort(port: number): void {
    this.#ports.add(port)
  }

  /**
   * Adds a service of the operator. Blocks its name always, but its addresses only if they are private: a public one may be shared with
   * other sites, as in a CDN.
   */
  async addService(url: string): Promise<void> {
    const parsed = URL.parse(url)
    if (parsed === null) return
    const port = portOf(parsed)
    const host = hostOf(parsed.hostname)
    this.#services.add(`${host}:${port}`)
    const addresses = isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [{ address: host }]
    for (const { address } of addresses) {
      if (isIn(LOOPBACK, address)) this.#ports.add(port)
      if (isIP(host) !== 0 || isIn(PRIVATE, address)) this.#services.add(`${address}:${port}`)
    }
  }

  refuses(host: string, address: string, port: number): boolean {
    if (this.#services.has(`${hostOf(host)}:${port}`) || this.#services.has(`${address}:${port}`)) return true
    return this.#ports.has(port) && isHere(address)
  }
}

function isHere(address: string): boolean {
  if (isIn(LOOPBACK, address)) return true
  try {
    const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
    return own.some((known) => known.address.split('%', 1)[0] === address)
  } catch {
    // The process has no file left to open, so no connection would succeed either.
    return true
  }
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function hostOf(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'https:': 443,
  'http:': 80,
  'postgres:': 5432,
  'postgresql:': 5432
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}
