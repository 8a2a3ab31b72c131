import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../helpers/free-port.ts'
import { eventually } from '../helpers/eventually.ts'
import { delayingForwarder, type Forwarder } from './delaying-forwarder.ts'
import { Player } from './player.ts'
import type { Cold, ColdCall, ReachNodeArgs, ReachNodeInfo } from './roles/reach-node.ts'
import { Samples, ROUNDS, MEASURE_MS, warmUp } from './samples.ts'
import { median } from './statistics.ts'
import type { Suite } from './suite.ts'

const ROLE = new URL('./roles/reach-node.ts', import.meta.url)
const LOOPBACK = ['/ip4/127.0.0.1/tcp/0']
const CONCURRENCIES = [1, 32]
const FIRST_CALLS = 2_000
const READY_MS = 60_000
const DELAY_MS = 40
const COLD_CALLS = 5
/** Background work after a start, such as the DHT's first lookup, must not share the time of a cold call. */
const SETTLE_MS = 1_000

type Way = 'direct' | 'reversed' | 'relayed'
type Node = Player<ReachNodeInfo>
const start = (args: ReachNodeArgs): Promise<Node> => Player.start<ReachNodeInfo>(ROLE, args)

/** How a call reaches its owner: directly, over a link that the owner dialled back, or through a relay. */
export const reach: Suite = {
  name: 'reach',
  async run({ say }) {
    const samples = await rates(say)
    const trips = await roundTrips(say)
    const ways: readonly Way[] = ['direct', 'reversed', 'relayed']
    return {
      ratios: [
        {
          name: 'relayed-32',
          value: samples.ratio('relayed@32', 'direct@32', 'perSecond'),
          better: 'higher',
          aim: 0.4,
          of: 'calls/s relayed ÷ direct, 32 at once'
        },
        { name: 'trips-warm', value: trips.direct.warm, better: 'lower', aim: 1.2, of: 'round trips of a warm call' },
        { name: 'trips-cold', value: trips.direct.cold, better: 'lower', aim: 6, of: 'round trips of a cold call' },
        {
          name: 'trips-cold-relayed',
          value: trips.relayed.cold,
          better: 'lower',
          aim: 9,
          of: 'round trips of a cold call over a relay'
        }
      ],
      table: [
        ['', 'p50 at 1', 'calls/s at 1', 'p50 at 32', 'calls/s at 32'],
        ...ways.map((way) => [
          way,
          ...CONCURRENCIES.flatMap((at) => [
            `${Math.round(samples.typical(`${way}@${at}`, 'p50Us'))} µs`,
            samples.typical(`${way}@${at}`, 'perSecond').toFixed(0)
          ])
        ])
      ],
      notes: [
        'Relay, owners and consumers are processes of this machine; small free calls, stores in memory.',
        `Round trips: a new node calls name@provider through forwarders that delay ${DELAY_MS} ms each way; time ÷ ${2 * DELAY_MS} ms, median of ${COLD_CALLS}.`,
        'A relayed warm call is one round trip of the whole way, which is two of these.'
      ],
      details: { ...samples.details(), trips }
    }
  }
}

async function rates(say: (line: string) => void): Promise<Samples<Way>> {
  await using nodes = new AsyncDisposableStack()
  const add = async (args: ReachNodeArgs) => {
    const node = await start(args)
    nodes.defer(() => node.stop())
    return node
  }
  const relay = await add({ listen: LOOPBACK, bootstrap: [] })
  const bootstrap = relay.info.addresses
  const open = await add({ listen: LOOPBACK, bootstrap, serves: 'open' })
  const hidden = await add({ listen: [], bootstrap, serves: 'hidden' })
  await relayed(hidden)
  const free = await add({ listen: LOOPBACK, bootstrap })
  const inside = await add({ listen: [], bootstrap })
  await called(free, open)
  await called(free, hidden)
  await called(inside, hidden)
  await linked(free, hidden, false)
  await linked(inside, hidden, true)
  const subject = (title: Way, caller: Node, owner: Node, servers: readonly Node[]) => ({
    title,
    caller,
    target: { api: owner.info.api },
    servers
  })
  const subjects = {
    direct: subject('direct', free, open, [open]),
    reversed: subject('reversed', free, hidden, [hidden]),
    relayed: subject('relayed', inside, hidden, [hidden, relay])
  }
  const samples = new Samples<Way>()
  for (const each of Object.values(subjects)) await warmUp(each, CONCURRENCIES, FIRST_CALLS)
  for (let round = 0; round < ROUNDS; round++) {
    say(`round ${round + 1} of ${ROUNDS}, ${MEASURE_MS} ms each`)
    for (const [way, each] of Object.entries(subjects) as Array<[Way, typeof subjects.direct]>)
      for (const at of CONCURRENCIES) await samples.take(way, each, at)
  }
  return samples
}

async function roundTrips(say: (line: string) => void) {
  await using parts = new AsyncDisposableStack()
  /** A node that others reach through a forwarder only. */
  const far = async (args: Omit<ReachNodeArgs, 'listen' | 'announce'>) => {
    const port = await freePort()
    const forwarder: Forwarder = await delayingForwarder(port, DELAY_MS)
    parts.defer(() => forwarder.close())
    const listen = [`/ip4/127.0.0.1/tcp/${port}`]
    const node = await start({ listen, announce: [`/ip4/127.0.0.1/tcp/${forwarder.port}`], ...args })
    parts.defer(() => node.stop())
    return node
  }
  const relay = await far({ bootstrap: [] })
  const bootstrap = relay.info.addresses
  const open = await far({ bootstrap, serves: 'open' })
  const hidden = await start({ listen: [], bootstrap, serves: 'hidden' })
  parts.defer(() => hidden.stop())
  await relayed(hidden)
  await pause(SETTLE_MS)
  const caller = await start({ listen: [], bootstrap })
  parts.defer(() => caller.stop())
  const trips = async (owner: Node, isRelayed: boolean) => {
    const cold: number[] = []
    const warm: number[] = []
    for (let call = 0; call < COLD_CALLS; call++) {
      say(`cold call ${call + 1} of ${COLD_CALLS}${isRelayed ? ', relayed' : ''}`)
      const asked: ColdCall = { node: { listen: [], bootstrap }, api: owner.info.api, owner: owner.info.id }
      const measured = await caller.ask<Cold>('cold', asked)
      if (measured.isRelayed !== isRelayed) throw new Error('the call took another way')
      cold.push(measured.coldMs / (2 * DELAY_MS))
      warm.push(measured.warmMs / (2 * DELAY_MS))
    }
    return { cold: median(cold), warm: median(warm) }
  }
  return { direct: await trips(open, false), relayed: await trips(hidden, true) }
}

const relayed = (node: Node) =>
  eventually('a relay', READY_MS, async () => ((await node.ask<number>('relays')) > 0 ? true : undefined))

const called = (from: Node, owner: Node) =>
  eventually('a first call', READY_MS, () => from.ask('call', { api: owner.info.api }).catch(() => undefined))

/** A direct link carries the calls as soon as there is one; a relayed link may stay for a while. */
const linked = (from: Node, to: Node, isRelayed: boolean) =>
  eventually('the link', READY_MS, async () => {
    const links = await from.ask<string[]>('links', { peer: to.info.id })
    const isDirect = links.some((link) => !link.includes('/p2p-circuit'))
    return links.length > 0 && isDirect !== isRelayed ? true : undefined
  })
