import { setTimeout as pause } from 'node:timers/promises'
import { HEARTBEAT_MS } from '../../lib/base/limits/link.ts'
import { Player } from './player.ts'
import type { IdlePeersArgs } from './roles/idle-peers.ts'
import type { Cost } from './roles/linked-node.ts'
import type { Suite } from './suite.ts'

const PEERS = 500
const NODE = new URL('./roles/linked-node.ts', import.meta.url)
const CROWD = new URL('./roles/idle-peers.ts', import.meta.url)
/** Time in which the node finishes what each new connection starts. */
const SETTLE_MS = 10_000
/** Two heartbeats of every link. */
const IDLE_MS = 2 * HEARTBEAT_MS

/** Memory and CPU of a node with idle links. */
export const links: Suite = {
  name: 'links',
  async run({ say }) {
    await using parts = new AsyncDisposableStack()
    const node = await Player.start<{ readonly addresses: readonly string[] }>(NODE)
    parts.defer(() => node.stop())
    await pause(SETTLE_MS)
    const alone = await idle(node, say, 'alone')
    const args: IdlePeersArgs = { count: PEERS, to: node.info.addresses }
    const crowd = await Player.start(CROWD, args)
    parts.defer(() => crowd.stop())
    await pause(SETTLE_MS)
    const linked = await idle(node, say, `with ${PEERS} peers`)
    const perLink = (linked.cost.heapBytes - alone.cost.heapBytes) / linked.cost.links / 1024
    const rssPerLink = (linked.cost.rssBytes - alone.cost.rssBytes) / linked.cost.links / 1024
    const row = (title: string, { cost, cpuMsPerSecond }: typeof alone) => [
      title,
      String(cost.links),
      `${Math.round(cost.heapBytes / 2 ** 20)} MiB`,
      `${Math.round(cost.rssBytes / 2 ** 20)} MiB`,
      `${cpuMsPerSecond.toFixed(1)} ms`
    ]
    return {
      ratios: [
        {
          name: 'heap-per-link',
          value: perLink,
          better: 'lower',
          aim: 150,
          of: 'KiB of heap and buffers for each idle link'
        },
        {
          name: 'cpu',
          value: linked.cpuMsPerSecond - alone.cpuMsPerSecond,
          better: 'lower',
          of: `ms of CPU a second for ${PEERS} idle links`
        }
      ],
      table: [['node', 'links', 'heap and buffers', 'RSS', 'CPU a second'], row('alone', alone), row('linked', linked)],
      notes: [
        `Over ${IDLE_MS / 1000} s, after a garbage collection; ${Math.round(rssPerLink)} KiB of RSS for each link, garbage included.`,
        'The peers identify themselves, respond to pings, and take part in gossip. One socket for each.'
      ],
      details: { alone, linked }
    }
  }
}

async function idle(node: Player, say: (line: string) => void, title: string) {
  say(`${title}: ${IDLE_MS / 1000} s`)
  const before = await node.ask<Cost>('cost')
  await pause(IDLE_MS)
  const cost = await node.ask<Cost>('cost')
  return { cost, cpuMsPerSecond: ((cost.cpuMs - before.cpuMs) * 1000) / IDLE_MS }
}
