import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'
import { limits } from '../../lib/index.ts'
import { freePort, listenOnFreePort, type ListenTarget } from './listen.ts'

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
  const { host, port } = await listenOnFreePort(server, await unshared(wish), true)
  const acceptors: Server[] = []
  while (acceptors.length < acceptorsMax - 1) {
    // With the same options as the sockets of `node:http`.
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket)
    )
    try {
      await listenOnFreePort(acceptor, { host, port, exact: true }, true)
    } catch {
      // This system allows no more sockets. Accepting is slower, but works.
      break
    }
    // Ignore connections that were reset before they were accepted.
    acceptor.on('error', () => {})
    acceptors.push(acceptor)
  }
  return { host, port, acceptors }
}

/** Finds a port that no other process uses. A shared port could silently belong to another node of the same user. */
async function unshared(wish: ListenTarget): Promise<ListenTarget> {
  return wish.port === 0 ? wish : { ...wish, port: await freePort(wish) }
}
