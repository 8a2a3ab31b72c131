import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Role } from './role.ts'

export interface Origin {
  readonly origin: string
}

/** Longer than any pause between two measurements, so that no peer has to reconnect. */
const KEEP_ALIVE_MS = 600_000

/** The server on a free port of this machine, as a role. */
export async function listenOnLoopback(server: Server): Promise<Role & { readonly info: Origin }> {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1_024 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { info: { origin: `http://127.0.0.1:${port}` }, stop: () => server.closeAllConnections() }
}
