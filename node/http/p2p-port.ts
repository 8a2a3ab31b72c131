import { createServer, isIP } from 'node:net'
import { listenOnFreePort } from './listen.ts'
import type { PortPreference } from '../node-config.ts'
import { SetupError } from '../setup-error.ts'

/**
 * A multiaddr that libp2p can listen on. libp2p only says that no transport could listen, not that a port was taken, so the
 * port is tried beforehand; whoever takes it in between makes the start fail, and a second start move up.
 *
 * @throws SetupError `port_busy`, `config_invalid`
 */
export async function freeMultiaddr(host: string, wish: PortPreference): Promise<{ multiaddr: string; port: number }> {
  const family = isIP(host)
  if (family === 0) throw new SetupError('config_invalid', `"${host}" is no IP address to listen on for peers.`)
  const probe = createServer()
  const { port } = await listenOnFreePort(probe, { host, ...wish })
  await new Promise((resolve) => probe.close(resolve))
  return { multiaddr: `/ip${family}/${host}/tcp/${port}`, port }
}
