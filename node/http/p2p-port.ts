import { isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isPublicIp } from '../../lib/index.ts'
import { freePort, PORT_HINT } from './listen.ts'
import type { PortPreference } from '../node-config.ts'
import { SetupError } from '../setup-error.ts'

/** Where a node listens for peers. */
export interface P2pPlace {
  /** Multiaddrs to listen on. */
  readonly listen: readonly string[]
  readonly port: number
  /** Multiaddr of a public address that is not of this machine, because a router maps it to this one. */
  readonly outside?: string
  /** No address was configured. */
  readonly isDefault: boolean
}

/** Another process took the port between the check by `p2pPlace` and the start of libp2p. The next check finds another port, or none. */
export class PortTaken extends SetupError {
  constructor(port: number, cause: unknown) {
    super('port_busy', `Another program just took port ${port}.`, { hint: PORT_HINT, cause })
  }
}

/**
 * Multiaddrs that libp2p can listen on. libp2p does not move to another port, so this tries the port first.
 * @param host - default: all interfaces, IPv4 and, where the machine has it, IPv6
 * @throws SetupError `port_busy`, `config_invalid`
 */
export async function p2pPlace(host: string | undefined, wish: PortPreference): Promise<P2pPlace> {
  if (host !== undefined && isIP(host) === 0)
    throw new SetupError('config_invalid', `"${host}" is not an IP address. Give an IP address to listen on for peers.`)
  const isOutside = host !== undefined && isPublicIp(host) && !ownAddresses().includes(host)
  const hosts = host === undefined || isOutside ? everywhere() : [host]
  // A socket on `::` takes the port of IPv4 as well.
  const port = await freePort({ host: hosts.at(-1) ?? '0.0.0.0', ...wish, isRaw: true })
  const multiaddr = (ip: string) => `/ip${isIPv4(ip) ? 4 : 6}/${ip}/tcp/${port}`
  return {
    listen: hosts.map(multiaddr),
    port,
    isDefault: host === undefined,
    ...(isOutside ? { outside: multiaddr(host) } : {})
  }
}

function everywhere(): string[] {
  return ownAddresses().some((address) => !isIPv4(address)) ? ['0.0.0.0', '::'] : ['0.0.0.0']
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((known = []) => known.map(({ address }) => address))
}
