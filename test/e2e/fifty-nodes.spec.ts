import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { handler, type SoukNode } from '../../lib/index.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'

const NODES = 50
/** All fifty share one thread here. How long they took is printed and not asserted: it says as much of the machine as of us. */
const GIVE_UP_MS = 60_000
/** Nodes that start at the same time: fifty key exchanges at once would only stand in each other's way. */
const STARTS_AT_ONCE = 7
const PAUSE_MS = 100
/** What is announced is known everywhere by then. */
const ANNOUNCED_MS = 10_000

describe('fifty nodes on one machine', function () {
  this.timeout(180_000)
  let testnet: Testnet

  before(async () => {
    testnet = await createTestnet({ nodes: 1 })
    while (testnet.nodes.length < NODES) {
      const left = NODES - testnet.nodes.length
      await Promise.all(Array.from({ length: Math.min(STARTS_AT_ONCE, left) }, () => testnet.add()))
    }
  })
  after(() => testnet.stop())

  /** Publishes on some node; tells how long after that each of the others, all asking at once, had found it. */
  async function published(name: string, find: (node: SoukNode) => Promise<boolean>): Promise<number[]> {
    const owner = testnet.nodes[randomInt(NODES)]
    assert.ok(owner !== undefined)
    const startedAt = performance.now()
    await owner.souk.serve(
      { name, price: '0.001', tags: ['demo'] },
      handler(({ body }) => ({ got: body }))
    )
    const others = testnet.nodes.filter((node) => node !== owner)
    return Promise.all(
      others.map(async (node) => {
        let why: unknown
        for (;;) {
          const isFound = await find(node).catch((error: unknown) => ((why = error), false))
          const ms = performance.now() - startedAt
          if (isFound || ms > GIVE_UP_MS)
            return isFound ? ms : assert.fail(`not found after ${Math.round(ms)} ms: ${String(why)}`)
          await pause(PAUSE_MS)
        }
      })
    )
  }

  function tell(what: string, times: readonly number[]): void {
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? Infinity)
    console.log(`      ${what}: half of the nodes after ${at(0.5)} ms, the slowest after ${at(1)} ms`)
    assert.equal(times.length, NODES - 1)
  }

  it('find a new listing by searching', async () => {
    const times = await published('to-be-searched', async ({ souk }) => {
      const { listings } = await souk.search({ text: 'to-be-searched' })
      return listings.some(({ manifest }) => manifest.name === 'to-be-searched')
    })
    tell('searched', times)
  })

  it('call a new listing by its bare name', async () => {
    const times = await published('to-be-called', async ({ souk }) => {
      const reply = await souk.call({ api: 'to-be-called', body: { n: 1 } })
      assert.deepEqual(await reply.json(), { got: { n: 1 } })
      return reply.status === 200
    })
    tell('called', times)
  })

  it('hear of a new listing unasked, and keep it when a third of them is gone', async () => {
    const times = await published('to-be-announced', async ({ souk }) => {
      const { listings } = await souk.store.listings.search({
        terms: ['announced'],
        sort: 'new',
        limit: 1,
        now: Date.now()
      })
      return listings.length === 1
    })
    tell('announced', times)
    assert.ok(Math.max(...times) < ANNOUNCED_MS, `the slowest heard of it after ${Math.max(...times)} ms`)
    const serves = ({ souk }: SoukNode) => souk.listings().length > 0
    const gone = testnet.nodes
      .slice(1)
      .filter((node) => !serves(node))
      .slice(0, Math.floor(NODES / 3))
    await Promise.all(gone.map((node) => node.stop()))
    const left = testnet.nodes.filter((node) => !gone.includes(node))
    const newcomer = await testnet.add()
    for (const { souk } of [newcomer, ...left]) {
      const { listings } = await souk.search({ text: 'to-be-announced' })
      assert.equal(listings.length, 1)
    }
    const reply = await newcomer.souk.call({ api: 'to-be-announced', body: { n: 2 } })
    assert.deepEqual(await reply.json(), { got: { n: 2 } })
  })
})
