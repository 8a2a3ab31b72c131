import type { Server } from 'node:http'
import type { Server as Acceptor, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

export interface Graceful {
  /** The server is shutting down. */
  readonly draining: boolean
  /** Stops accepting, waits up to `drainMs` for running requests, then closes the rest. A second call waits for the first. */
  close(drainMs: number): Promise<void>
  /** Further servers that accept connections for this one. They close with it. */
  readonly acceptors: Acceptor[]
  /** Called when the shutdown begins, for connections that are no longer HTTP. */
  onDrain: (() => void) | undefined
}

/**
 * Shuts an HTTP or HTTPS server down without dropping a running request or waiting for idle connections. `server.close()` alone also waits
 * for connections without any request, and for those whose last response began before the shutdown.
 */
export function graceful(server: Server, clock: Clock): Graceful {
  const sockets = new Set<Socket>()
  const unused = new Set<Socket>()
  const acceptors: Acceptor[] = []
  let closing: Promise<void> | undefined

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Under TLS, requests arrive on the inner socket.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    // A handshake may end after the shutdown has begun.
    if (closing !== undefined) socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', (request) => unused.delete(request.socket))
  server.on('upgrade', (request) => unused.delete(request.socket))

  async function end(drainMs: number): Promise<void> {
    const closed = Promise.all([server, ...acceptors].map((each) => new Promise((resolve) => each.close(resolve))))
    for (const socket of unused) socket.destroy()
    ending.onDrain?.()
    let timer = clock.after(limits.DRAIN_SWEEP_MS, function sweep() {
      server.closeIdleConnections()
      timer = clock.after(limits.DRAIN_SWEEP_MS, sweep)
    })
    const deadline = clock.after(drainMs, () => {
      for (const socket of sockets) socket.destroy()
    })
    await closed
    timer.cancel()
    deadline.cancel()
  }

  const ending: Graceful = {
    acceptors,
    onDrain: undefined,
    get draining() {
      return closing !== undefined
    },
    close: (drainMs) => (closing ??= end(drainMs))
  }
  return ending
}
