import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'
import { limits } from '../../lib/index.ts'
import { listenOnFreePort, type ListenTarget } from './listen.ts'

/**
 * Listens on one port with several sockets that share it (SO_REUSEPORT). libuv takes one connection of each listening socket in a turn of
 * the event loop: at 50 turns a second, a thousand new clients would wait for 20 seconds at a single one.
 *
 * @returns where it listens, and the further servers, for whoever closes the first
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
    // As `node:http` creates its own sockets.
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket)
    )
    try {
      await listenOnFreePort(acceptor, { host, port, exact: true }, true)
    } catch {
      // Fewer are slower to accept, and all that this system gives.
      break
    }
    // A connection that was reset before it was accepted.
    acceptor.on('error', () => {})
    acceptors.push(acceptor)
  }
  return { host, port, acceptors }
}

/** A port that nobody has: a shared one could be that of another node of the same user, which would go unnoticed. */
async function unshared(wish: ListenTarget): Promise<ListenTarget> {
  if (wish.port === 0) return wish
  const probe = createServer()
  const { port } = await listenOnFreePort(probe, wish)
  await new Promise((resolve) => probe.close(resolve))
  return { ...wish, port }
}
