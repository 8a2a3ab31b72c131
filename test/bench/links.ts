import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE } from '../../lib/base/limits/units.ts'
import { HEARTBEAT_MS } from '../../lib/base/limits/link.ts'
import type { LoadResult } from './closed-loop.ts'
import { Player } from './player.ts'
import type { IdlePeersArgs } from './roles/idle-peers.ts'
import type { Cost } from './roles/linked-node.ts'
import type { OverlayLoad } from './roles/overlay-load.ts'
import type { Reachable } from './roles/overlay-owner.ts'
import type { Traffic } from './stream-traffic.ts'
import type { Suite } from './suite.ts'

const PEERS = 500
const NODE = new URL('./roles/linked-node.ts', import.meta.url)
const CALLER = new URL('./roles/overlay-load.ts', import.meta.url)
const CROWD = new URL('./roles/idle-peers.ts', import.meta.url)
/** Time in which the node finishes what each new connection starts. */
const SETTLE_MS = 10_000
const ONE_AT_A_TIME: OverlayLoad = { api: 'echo', concurrency: 1, warmUpMs: 500, measureMs: 2_000 }
/** Two heartbeats of every link. */
const IDLE_MS = 2 * HEARTBEAT_MS

/** Memory and CPU of a node with idle links. */
export const links: Suite = {
  name: 'links',
  async run({ say }) {
    await using parts = new AsyncDisposableStack()
    const node = await Player.start<Reachable>(NODE)
    parts.defer(() => node.stop())
    const caller = await Player.start(CALLER, node.info)
    parts.defer(() => caller.stop())
    await pause(SETTLE_MS)
    const { p50Us: callUs } = await caller.ask<LoadResult>('run', ONE_AT_A_TIME)
    const alone = await idle(node, say, 'alone')
    const args: IdlePeersArgs = { count: PEERS, to: node.info.addresses }
    const crowd = await Player.start(CROWD, args)
    parts.defer(() => crowd.stop())
    await pause(SETTLE_MS)
    const before = await crowd.ask<Record<string, Traffic>>('traffic')
    const linked = await idle(node, say, `with ${PEERS} peers`)
    const after = await crowd.ask<Record<string, Traffic>>('traffic')
    const { p50Us: linkedCallUs } = await caller.ask<LoadResult>('run', ONE_AT_A_TIME)
    const idleLinks = linked.cost.links - alone.cost.links
    const linkMinutes = (idleLinks * IDLE_MS) / MINUTE
    const perLink = (linked.cost.heapBytes - alone.cost.heapBytes) / idleLinks / 1024
    const rssPerLink = (linked.cost.rssBytes - alone.cost.rssBytes) / idleLinks / 1024
    const row = (title: string, { cost, cpuMsPerSecond }: typeof alone, p50Us: number) => [
      title,
      String(cost.links),
      `${Math.round(cost.heapBytes / 2 ** 20)} MiB`,
      `${Math.round(cost.rssBytes / 2 ** 20)} MiB`,
      `${cpuMsPerSecond.toFixed(1)} ms`,
      `${Math.round(p50Us)} µs`
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
          aim: 10,
          of: `ms of CPU a second for ${PEERS} idle links`
        },
        {
          name: 'bytes-per-link',
          value: (linked.socketBytes - alone.socketBytes) / linkMinutes,
          better: 'lower',
          of: 'bytes a minute of each idle link, both ways'
        },
        {
          name: 'call',
          value: linkedCallUs / callUs,
          better: 'lower',
          of: `p50 of one call to the node with ${PEERS} idle links ÷ alone`
        }
      ],
      table: [
        ['node', 'links', 'heap and buffers', 'RSS', 'CPU a second', 'p50 of one call'],
        row('alone', alone, callUs),
        row('linked', linked, linkedCallUs)
      ],
      notes: [
        `Over ${IDLE_MS / 1000} s, after a garbage collection; ${Math.round(rssPerLink)} KiB of RSS for each link, garbage included.`,
        ...Object.entries(after).map(([protocol, traffic]) => rate(protocol, traffic, before[protocol], linkMinutes)),
        'The peers identify themselves, ping and respond to pings, and take part in gossip and the DHT. One socket for each.'
      ],
      details: { alone, linked }
    }
  }
}

async function idle(node: Player, say: (line: string) => void, title: string) {
  say(`${title}: ${IDLE_MS / 1000} s`)
  await node.ask('collect')
  const before = await node.ask<Cost>('cost')
  await pause(IDLE_MS)
  const after = await node.ask<Cost>('cost')
  await node.ask('collect')
  return {
    cost: await node.ask<Cost>('cost'),
    cpuMsPerSecond: ((after.cpuMs - before.cpuMs) * 1000) / IDLE_MS,
    socketBytes: after.socketBytes - before.socketBytes
  }
}

function rate(protocol: string, after: Traffic, before: Traffic | undefined, linkMinutes: number): string {
  const each = (of: keyof Traffic) => ((after[of] - (before?.[of] ?? 0)) / linkMinutes).toFixed(2)
  return `${protocol}: ${each('streams')} streams, ${each('messages')} messages, ${each('bytes')} bytes for each link and minute.`
}
