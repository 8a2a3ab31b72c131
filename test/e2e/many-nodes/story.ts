import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { handler, type SoukNode } from '../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'

/** All nodes share one thread here, so on a busy machine each node waits for all others. */
const GIVE_UP_MS = 120_000
/** Limits of concurrent starts and lookups. A real network has many machines; this test has one thread. */
const STARTS_AT_ONCE = 5
const ASK_AT_ONCE = 2
const PAUSE_MS = 100
/** Time in which an announcement reaches all nodes. On a busy machine it is multiplied by `BUSY_FACTOR`. */
const ANNOUNCED_MS = 10_000
const BUSY_FACTOR = 6

/** A network of `count` nodes finds, calls and announces listings, also after a third of the nodes has stopped. */
export function manyNodes(count: number): void {
  describe(`${count} nodes on one machine`, function () {
    this.timeout(400_000)
    let testnet: Testnet

    before(async () => {
      testnet = await createTestnet({ nodes: 1 })
      while (testnet.nodes.length < count) {
        const left = count - testnet.nodes.length
        await Promise.all(Array.from({ length: Math.min(STARTS_AT_ONCE, left) }, () => testnet.add()))
      }
    })
    after(() => testnet.stop())

    /** Publishes on a random node. Resolves with the other nodes. */
    async function publish(name: string): Promise<SoukNode[]> {
      const owner = testnet.nodes[randomInt(count)]
      assert.ok(owner !== undefined)
      await owner.souk.serve(
        { name, price: '0.001', tags: ['demo'] },
        handler(({ body }) => ({ got: body }))
      )
      return testnet.nodes.filter((node) => node !== owner)
    }

    /** Polls until `find` is true. Resolves with the milliseconds since `startedAt`. */
    async function found(find: () => Promise<boolean>, startedAt = performance.now()): Promise<number> {
      const end = performance.now() + GIVE_UP_MS
      let why: unknown
      for (;;) {
        const isFound = await find().catch((error: unknown) => ((why = error), false))
        if (isFound) return performance.now() - startedAt
        if (performance.now() > end) assert.fail(`not found in ${GIVE_UP_MS} ms: ${String(why)}`)
        await pause(PAUSE_MS)
      }
    }

    /** Runs `find` on `ASK_AT_ONCE` nodes at a time. Resolves with each node's duration, without waiting time. */
    async function inTurns(nodes: readonly SoukNode[], find: (node: SoukNode) => Promise<boolean>): Promise<number[]> {
      const times: number[] = []
      const rest = [...nodes]
      const lane = async () => {
        for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
          const asker = node
          times.push(await found(() => find(asker)))
        }
      }
      await Promise.all(Array.from({ length: ASK_AT_ONCE }, lane))
      return times
    }

    function tell(what: string, times: readonly number[]): void {
      const sorted = times.toSorted((a, b) => a - b)
      const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? Infinity)
      console.log(`      ${what}: half of the nodes after ${at(0.5)} ms, the slowest after ${at(1)} ms`)
      assert.equal(times.length, count - 1)
    }

    const searches = async ({ souk }: SoukNode, name: string) => {
      const { listings } = await souk.search({ text: name })
      return listings.some(({ manifest }) => manifest.name === name)
    }

    const calls = async ({ souk }: SoukNode, api: string) => {
      const reply = await souk.call({ api, body: { n: 1 } })
      assert.deepEqual(await reply.json(), { got: { n: 1 } })
      return reply.status === 200
    }

    it('find a new listing by searching', async () => {
      const others = await publish('to-be-searched')
      tell('searched', await inTurns(others, (node) => searches(node, 'to-be-searched')))
    })

    it('call a new listing by its bare name', async () => {
      const others = await publish('to-be-called')
      tell('called', await inTurns(others, (node) => calls(node, 'to-be-called')))
    })

    it('learn of a new listing without asking, and keep it when a third of them is gone', async () => {
      const startedAt = performance.now()
      const others = await publish('to-be-announced')
      const hasHeard = async ({ souk }: SoukNode) => {
        const wanted = { terms: ['announced'], sort: 'new', limit: 1, now: Date.now() } as const
        return (await souk.store.listings.search(wanted)).listings.length === 1
      }
      const times = await Promise.all(others.map((node) => found(() => hasHeard(node), startedAt)))
      tell('announced', times)
      const isBusy = loadavg().some((load) => load > availableParallelism())
      const slowest = Math.max(...times)
      assert.ok(
        slowest < ANNOUNCED_MS * (isBusy ? BUSY_FACTOR : 1),
        `the slowest node learned of it after ${slowest} ms`
      )

      const serves = ({ souk }: SoukNode) => souk.listings().length > 0
      const gone = testnet.nodes
        .slice(1)
        .filter((node) => !serves(node))
        .slice(0, Math.floor(count / 3))
      await Promise.all(gone.map((node) => node.stop()))
      const left = testnet.nodes.filter((node) => !gone.includes(node))
      // The nodes stored the announcement, so the first search finds it.
      for (const node of left) assert.ok(await searches(node, 'to-be-announced'))
      const newcomer = await testnet.add()
      const searched = await found(() => searches(newcomer, 'to-be-announced'))
      const called = await found(() => calls(newcomer, 'to-be-announced'))
      console.log(`      a newcomer: searched after ${Math.round(searched)} ms, called after ${Math.round(called)} ms`)
    })
  })
}
