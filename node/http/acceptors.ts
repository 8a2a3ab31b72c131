import type { Server as HttpServer } from 'node:http'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'
import { Server as TlsServer } from 'node:tls'
import { limits } from '../../lib/index.ts'
import { type Listen, listen, listenOnFreePort, type ListenTarget } from './listen.ts'

/**
 * Listens on one port with several sockets that share it (SO_REUSEPORT). libuv accepts one connection per listening socket and turn of the
 * event loop. At 50 turns a second, a thousand new clients would wait 20 seconds at a single socket.
 * @returns the listening address, and the further servers, which the caller must close
 * @throws SetupError `port_busy`, `start_failed`
 */
export async function listenWide(
  server: HttpServer,
  wish: ListenTarget,
  acceptorsMax: number = limits.ACCEPTORS_MAX
): Promise<{ host: string; port: number; acceptors: readonly Server[] }> {
  if (platform() !== 'linux') return { ...(await listenOnFreePort(server, wish)), acceptors: [] }
  const claims: Server[] = []
  const { host, port } = await listenOnFreePort(server, wish, async (first, place) => {
    if (place.port !== 0) claims.push(await claim(place))
    return shared(first, place)
  })
  const isTls = server instanceof TlsServer
  const acceptors: Server[] = []
  while (acceptors.length < acceptorsMax - 1) {
    // With the same options as the sockets of `node:http` or `node:https`. Half-open, a client that leaves during its handshake would keep
    // its socket open for good.
    const acceptor = createServer({ allowHalfOpen: !isTls, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket)
    )
    try {
      await shared(acceptor, { host, port })
    } catch {
      // This system allows no more sockets. Accepting is slower, but works.
      break
    }
    // Ignore connections that were reset before they were accepted.
    acceptor.on('error', () => {})
    acceptors.push(acceptor)
  }
  return { host, port, acceptors: [...claims, ...acceptors] }
}

const shared: Listen = (server, place) => listen(server, { ...place, reusePort: true })

/**
 * Checks that no other program uses the port, and keeps it for this process. Without the claim, two nodes of one user that start at the
 * same time would share the port, and each would get some of the other's requests.
 * @returns a server at an abstract socket, which no file shows and which ends with this process
 * @throws Error with code EADDRINUSE: the port is in use, or claimed
 */
async function claim(place: ListenOptions): Promise<Server> {
  const claimed = createServer((socket) => socket.destroy())
  await listen(claimed, { path: `\0souk:${place.host}:${place.port}` })
  try {
    const probe = createServer()
    await listen(probe, place)
    await closed(probe)
    return claimed
  } catch (error) {
    await closed(claimed)
    throw error
  }
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
