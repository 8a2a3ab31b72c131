import { searchTerms } from '../../../lib/base/search-terms.ts'
import { Rng } from '../rng.ts'
import { Ghosts } from './hostile.ts'
import { type Machine, Market } from './market.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A third of the nodes leaves, and as many others join. */
const CHURN = 1 / 3
/** Nodes that lose their power, and stay in the tables of others. */
const DEAD = 0.3
/** Owners among the nodes, and nodes that look each name up. */
const OWNERS = 0.1
const ASKERS = 3
/** Names that are looked up at the same moment. Lookups wait for packets, not for each other, and this saves simulated time. */
const NAMES_AT_ONCE = 12
/** Nodes that look one name up at the same moment. */
const CROWD = 50
const SETTLE_MS = 10_000
const ANNOUNCED_MS = 60_000
const POLL_MS = 100
/** A node that hears an announcement later than this is printed. */
const LATE_MS = 2_000
/** Simulated time between two lines about memory. It may take minutes. */
const PROGRESS_MS = 2_000

export interface Plan {
  readonly nodes: number
  readonly seed: number
  /** The log of each slower lookup is printed, and of each failed one. */
  readonly slowMs: number
}

export interface Figures {
  readonly nodes: number
  readonly names: number
  readonly lookups: number
  readonly missed: readonly string[]
  readonly p50Ms: number
  readonly p95Ms: number
  readonly slowestMs: number
  readonly crowd: number
  readonly crowdP95Ms: number
  readonly told: number
  readonly untold: number
  readonly toldP50Ms: number
  readonly toldSlowestMs: number
}

/** All times are of the simulated network, where a packet takes 20 ms. */
export async function run(time: VirtualTime, plan: Plan, say: (line: string) => void): Promise<Figures> {
  const { nodes, seed, slowMs } = plan
  const rng = new Rng(seed)
  const noise = rng.fork()
  // Libraries use it.
  Math.random = () => noise.fraction()
  const market = new Market(time, await Ghosts.of(nodes, rng.fork()), rng.fork())
  const pick = <T>(from: readonly T[], count: number): T[] => draw(rng, from, count)
  const rest = (ms: number) => time.run(new Promise<void>((resolve) => void setTimeout(resolve, ms)))
  const step = (what: string) => say(`${(time.elapsed / 1000).toFixed(1)} s: ${what} (${used()})`)

  const progress = setInterval(() => step(`${market.machines.length} nodes run`), PROGRESS_MS)

  await market.grow(nodes)
  step(`${market.machines.length} nodes joined`)
  await rest(SETTLE_MS)
  const owners = pick(market.honest, Math.round(nodes * OWNERS))
  await time.run(Promise.all(owners.map((machine) => market.publish(machine))))
  step(`${owners.length} names published`)

  const leavers = pick(market.machines.slice(1), Math.round(nodes * CHURN))
  await time.run(Promise.all(leavers.map((machine) => market.leave(machine))))
  await market.grow(leavers.length)
  await rest(SETTLE_MS)
  step(`${leavers.length} nodes left, ${leavers.length} others joined`)

  const victims = pick(market.machines.slice(1), Math.round(nodes * DEAD))
  for (const victim of victims) market.powerOff(victim)
  const hostile = market.machines.filter(({ hostility }) => hostility !== undefined).length
  step(`${victims.length} nodes lost their power; of the others ${hostile} are hostile`)

  const missed: string[] = []
  const times: number[] = []
  const ask = async (owner: Machine, asker: Machine) => {
    const startedAt = time.elapsed
    const name = owner.name ?? ''
    let isMissed = false
    asker.log.start()
    try {
      const reply = await asker.node.souk.call({ api: name, body: { n: 1 } })
      if (reply.status !== 200) throw new Error(`status ${reply.status}`)
      times.push(time.elapsed - startedAt)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      missed.push(`${name} (${why}, ${Math.round(time.elapsed - startedAt)} ms)`)
      isMissed = true
    }
    const lines = asker.log.end()
    if (isMissed || time.elapsed - startedAt > slowMs)
      say(market.named([`${name} at ${asker.host}:`, ...lines].join('\n')))
  }
  /** `count` nodes look up each of these names, all at the same moment. */
  const askTogether = (owners: readonly Machine[], count: number) => {
    const others = market.honest.filter((machine) => !owners.includes(machine))
    const askers = pick(others, owners.length * count)
    const ofOwner = (owner: Machine) => askers.splice(0, count).map((asker) => ask(owner, asker))
    return time.run(Promise.all(owners.flatMap(ofOwner)))
  }
  const asked = market.owners
  for (let i = 0; i < asked.length; i += NAMES_AT_ONCE) await askTogether(asked.slice(i, i + NAMES_AT_ONCE), ASKERS)
  step(`${times.length + missed.length} lookups and calls, ${missed.length} failed`)
  const sorted = times.splice(0).toSorted((a, b) => a - b)
  await askTogether(pick(asked, 1), CROWD)
  const crowd = times.toSorted((a, b) => a - b)
  step(`${crowd.length} lookups and calls at once`)

  const [publisher] = pick(market.honest, 1)
  if (publisher === undefined) throw new Error('no node is left')
  const told = await announce(time, market, publisher, (text) => say(market.named(text)))
  clearInterval(progress)
  step(`${told.length} nodes heard an announcement`)
  const heard = told.filter(Number.isFinite).toSorted((a, b) => a - b)
  return {
    nodes,
    names: asked.length,
    lookups: sorted.length + crowd.length + missed.length,
    missed,
    p50Ms: at(sorted, 0.5),
    p95Ms: at(sorted, 0.95),
    slowestMs: at(sorted, 1),
    crowd: crowd.length,
    crowdP95Ms: at(crowd, 0.95),
    told: heard.length,
    untold: told.length - heard.length,
    toldP50Ms: at(heard, 0.5),
    toldSlowestMs: at(heard, 1)
  }
}

/** How long each other honest node takes to know a new listing. Infinity for one that does not within `ANNOUNCED_MS`. */
async function announce(
  time: VirtualTime,
  market: Market,
  publisher: Machine,
  say: (text: string) => void
): Promise<number[]> {
  const startedAt = time.elapsed
  const honest = new Set(market.honest.map(({ node }) => node.souk.status().peer))
  const linksOf = ({ node }: Machine) => {
    const peers = new Set(node.libp2p.getPeers().map(String))
    return `${peers.intersection(honest).size} of its ${peers.size} connections led to live and honest nodes`
  }
  const serving = market.publish(publisher)
  const terms = searchTerms(publisher.name ?? '')
  const hears = async (machine: Machine): Promise<number> => {
    const { node, host } = machine
    const links = linksOf(machine)
    while (time.elapsed - startedAt < ANNOUNCED_MS) {
      const { listings } = await node.souk.store.listings.search({ terms, sort: 'new', limit: 1, now: Date.now() })
      const ms = time.elapsed - startedAt
      if (listings.length > 0 && ms > LATE_MS) say(`${host} heard it after ${ms} ms: at first ${links}`)
      if (listings.length > 0) return ms
      await new Promise<void>((resolve) => void setTimeout(resolve, POLL_MS))
    }
    return Infinity
  }
  const others = market.honest.filter((machine) => machine !== publisher)
  const [times] = await time.run(Promise.all([Promise.all(others.map(hears)), serving]))
  return times
}

/** Memory and CPU time of the process so far. */
function used(): string {
  const { rss, heapUsed, external } = process.memoryUsage()
  const [rssMb, heapMb, externalMb] = [rss, heapUsed, external].map((bytes) => Math.round(bytes / 2 ** 20))
  const { user, system } = process.cpuUsage()
  return `${rssMb} MiB, heap ${heapMb}, buffers ${externalMb}, CPU ${Math.round((user + system) / 1e6)} s`
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? NaN)

function draw<T>(rng: Rng, from: readonly T[], count: number): T[] {
  const left = [...from]
  const picked: T[] = []
  while (picked.length < count && left.length > 0)
    picked.push(...left.splice(Math.floor(rng.fraction() * left.length), 1))
  return picked
}
