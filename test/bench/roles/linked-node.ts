import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNode } from '../../../lib/index.ts'
import { echo } from '../echo.ts'
import { play } from '../role.ts'

export interface Cost {
  readonly heapBytes: number
  readonly rssBytes: number
  readonly cpuMs: number
  readonly links: number
  /** Bytes of all sockets, both ways. */
  readonly socketBytes: number
}

/** A node that is connected to many peers, and does nothing. */
play(async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const sockets: Socket[] = []
  subscribe('net.server.socket', (message) => sockets.push((message as { readonly socket: Socket }).socket))
  const network = 'links'
  const node = await createNode({ network })
  await node.start()
  await node.souk.serve({ name: 'echo', price: '0' }, echo)
  return {
    info: { addresses: node.libp2p.getMultiaddrs().map(String), network },
    operations: {
      collect: () => collect(),
      cost(): Cost {
        const { heapUsed, external, rss } = process.memoryUsage()
        const { user, system } = process.cpuUsage()
        return {
          heapBytes: heapUsed + external,
          rssBytes: rss,
          cpuMs: (user + system) / 1000,
          socketBytes: sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
          links: node.libp2p.getConnections().length
        }
      }
    },
    stop: () => node.stop()
  }
})
