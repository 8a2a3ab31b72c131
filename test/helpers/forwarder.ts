import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Duplex, type Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

const STEP_MS = 10

/**
 * Passes bytes on to a port of this machine, both ways, until `silence`, and again after `proceed`. New connections open
 * meanwhile, but carry nothing.
 * @param bytesPerSecond each way, as on a home's uplink. Default: no limit
 */
export async function forwarder(to: number, bytesPerSecond?: number) {
  const pairs: Array<readonly [near: Socket, far: Socket]> = []
  let isSilent = false
  const pass = (from: Socket, into: Socket) =>
    (bytesPerSecond === undefined ? from : from.pipe(slowed(bytesPerSecond))).pipe(into)
  const join = ([near, far]: (typeof pairs)[number]) => {
    pass(near, far)
    pass(far, near)
  }
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    pairs.push([near, far])
    for (const socket of [near, far]) socket.on('error', () => {})
    if (!isSilent) join([near, far])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Whether bytes wait to be passed on. */
    waits: () => pairs.some(([near]) => near.readableLength > 0),
    silence: () => {
      isSilent = true
      for (const socket of pairs.flat()) socket.unpipe().pause()
    },
    proceed: () => {
      isSilent = false
      pairs.forEach(join)
    },
    stop: () => {
      server.close()
      for (const socket of pairs.flat()) socket.destroy()
    }
  }
}

function slowed(bytesPerSecond: number): Duplex {
  const bytes = Math.ceil((bytesPerSecond * STEP_MS) / 1_000)
  return Duplex.from(async function* (source: Readable): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += bytes) {
        yield chunk.subarray(at, at + bytes)
        await pause(STEP_MS)
      }
    }
  })
}
