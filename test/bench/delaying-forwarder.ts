import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Forwarder {
  readonly port: number
  close(): void
}

/**
 * Forwards TCP to a port of this machine. Each byte arrives `delayMs` later, in both directions. The kernel opens a
 * connection to the forwarder at once, so the first bytes of a client wait for a round trip of the handshake as well.
 */
export async function delayingForwarder(target: number, delayMs: number): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  const server = createServer((inward) => {
    const outward = connect(target, '127.0.0.1')
    for (const [from, to, firstMs] of [
      [inward, outward, 3 * delayMs],
      [outward, inward, 4 * delayMs]
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      void copy(from, to, delayMs, firstMs)
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the forwarder has no port')
  return {
    port: address.port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

/** Chunks keep their order, because each waits for the time of its own arrival. */
async function copy(from: Socket, to: Socket, delayMs: number, firstMs: number): Promise<void> {
  const openedAt = performance.now()
  let before = Promise.resolve()
  from.on('data', (chunk) => {
    const dueAt = Math.max(performance.now() + delayMs, openedAt + firstMs)
    before = before.then(async () => {
      await pause(Math.max(0, dueAt - performance.now()))
      if (!to.destroyed) to.write(chunk)
    })
  })
  from.once('end', () => void before.then(() => pause(delayMs)).then(() => to.end()))
}
