import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'

const STEP_MS = 10

/** A way to a port of this machine that carries so many bytes per second in each direction, like a home's uplink. */
export async function slowLink(to: number, bytesPerSecond: number): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>()
  const bytes = Math.ceil((bytesPerSecond * STEP_MS) / 1_000)
  async function* slowly(source: Readable): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += bytes) {
        yield chunk.subarray(at, at + bytes)
        await pause(STEP_MS)
      }
    }
  }
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [from, into] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      void pipeline(from, slowly, into).catch(() => from.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
