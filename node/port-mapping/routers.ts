import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isPublicIp } from '../../lib/index.ts'

/** A private IPv4 address of this machine, and the router of its network. */
export interface PrivateNetwork {
  readonly address: string
  /** The default gateway; elsewhere than on Linux a guess, the first address of the network. */
  readonly router: string
}

/**
 * The private networks of this machine; none where it has a public IPv4 address, so that nobody has to forward anything, or while
 * the system does not list them.
 */
export async function privateNetworks(): Promise<PrivateNetwork[]> {
  const known = Object.entries(interfaces()).flatMap(([name, all = []]) => all.map((each) => ({ name, ...each })))
  const outer = known.filter(({ internal, address }) => !internal && isIPv4(address))
  if (outer.some(({ address }) => isPublicIp(address))) return []
  const gateways = await defaultGateways()
  return outer.flatMap(({ name, address, netmask }) => {
    const router = gateways === undefined ? firstOf(address, netmask) : gateways.get(name)
    return router === undefined ? [] : [{ address, router }]
  })
}

function interfaces(): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces()
  } catch {
    // This process has no file left to open. The next check asks again.
    return {}
  }
}

/** Default gateways by interface. Undefined on other systems than Linux. */
async function defaultGateways(): Promise<Map<string, string> | undefined> {
  const table = await readFile('/proc/net/route', 'latin1').catch(() => undefined)
  if (table === undefined) return undefined
  const rows = table.split('\n').map((line) => line.split('\t'))
  const defaults = rows.filter(
    ([, destination, gateway = '']) => destination === '00000000' && /^[\dA-F]{8}$/.test(gateway)
  )
  return new Map(defaults.map(([name = '', , gateway = '']) => [name, littleEndian(gateway)]))
}

const littleEndian = (hex: string): string => [...Buffer.from(hex, 'hex').reverse()].join('.')

function firstOf(address: string, netmask: string): string {
  const mask = netmask.split('.').map(Number)
  const network = address.split('.').map((part, index) => Number(part) & (mask[index] ?? 0))
  return [...network.slice(0, 3), (network[3] ?? 0) + 1].join('.')
}
