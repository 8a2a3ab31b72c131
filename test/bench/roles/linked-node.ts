import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNode } from '../../../lib/index.ts'
import { play } from '../role.ts'

export interface Cost {
  /** After a garbage collection. */
  readonly heapBytes: number
  readonly rssBytes: number
  readonly cpuMs: number
  readonly links: number
}

/** A node that is connected to many peers, and does nothing. */
play(async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const node = await createNode({ network: 'links' })
  await node.start()
  return {
    info: { addresses: node.libp2p.getMultiaddrs().map(String) },
    operations: {
      cost(): Cost {
        collect()
        const { heapUsed, external, rss } = process.memoryUsage()
        const { user, system } = process.cpuUsage()
        return {
          heapBytes: heapUsed + external,
          rssBytes: rss,
          cpuMs: (user + system) / 1000,
          links: node.libp2p.getConnections().length
        }
      }
    },
    stop: () => node.stop()
  }
})
