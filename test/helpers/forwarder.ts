import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Passes bytes on to a port of this machine, both ways, until `silence`, and again after `proceed`. */
export async function forwarder(to: number) {
  const pairs: Array<readonly [near: Socket, far: Socket]> = []
  const join = ([near, far]: (typeof pairs)[number]) => near.pipe(far).pipe(near)
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    pairs.push([near, far])
    for (const socket of [near, far]) socket.on('error', () => {})
    join([near, far])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => pairs.flat().forEach((socket) => socket.unpipe().pause()),
    proceed: () => pairs.forEach(join),
    stop: () => {
      server.close()
      for (const socket of pairs.flat()) socket.destroy()
    }
  }
}
