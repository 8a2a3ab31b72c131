import { createServer, isIP } from 'node:net'
import { listenOnFreePort } from './listen.ts'
import type { PortPreference } from '../node-config.ts'
import { SetupError } from '../setup-error.ts'

/**
 * A multiaddr that libp2p can listen on. libp2p does not report that a port is taken, so this tries the port first. If another process
 * takes the port in between, the start fails, and the next start moves up.
 * @throws SetupError `port_busy`, `config_invalid`
 */
export async function freeMultiaddr(host: string, wish: PortPreference): Promise<{ multiaddr: string; port: number }> {
  const family = isIP(host)
  if (family === 0)
    throw new SetupError('config_invalid', `"${host}" is not an IP address. Give an IP address to listen on for peers.`)
  const probe = createServer()
  const { port } = await listenOnFreePort(probe, { host, ...wish })
  await new Promise((resolve) => probe.close(resolve))
  return { multiaddr: `/ip${family}/${host}/tcp/${port}`, port }
}
