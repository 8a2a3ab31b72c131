import assert from 'node:assert/strict'
import type { ApiId } from '../../../lib/base/api-name.ts'
import { eachOf } from '../../../lib/resolve/each-of.ts'
import { offerNamed } from './fixtures.ts'
import { type KadNode, kadNetwork, stopAll } from './kad-network.ts'

const NODES = 50
const FOUND_WITHIN_MS = 10_000
/** All fifty share one processor here, so they look one after another, a few at a time, each with its own ten seconds. */
const AT_ONCE = 5

describe('fifty nodes on loopback', function () {
  this.timeout(120_000)
  let nodes: KadNode[] = []

  before(async () => {
    nodes = await kadNetwork(NODES)
  })

  after(() => stopAll(nodes))

  it('all find a new listing, and who serves it, within ten seconds', async () => {
    const owner = nodes[17]
    assert.ok(owner !== undefined)
    const offer = offerNamed('new-listing', owner.self, { tags: ['demo'] })
    const { asked, stored } = await owner.directory.publish(offer, AbortSignal.timeout(FOUND_WITHIN_MS))
    assert.ok(stored * 3 >= asked * 2, `${stored} of ${asked} peers stored the record`)
    const missing = new Set(nodes)
    await eachOf(nodes, AT_ONCE, async (node) => {
      const signal = AbortSignal.timeout(FOUND_WITHIN_MS)
      while (missing.has(node) && !signal.aborted) {
        if (await finds(node, offer.id, owner.self, signal)) missing.delete(node)
      }
    })
    assert.equal(missing.size, 0, `${missing.size} nodes found nothing`)
  })

  async function finds({ directory }: KadNode, id: ApiId, server: string, signal: AbortSignal): Promise<boolean> {
    const [record, isServed] = await Promise.all([
      directory.record(id, signal).catch(() => undefined),
      serves(directory, id, server, signal)
    ])
    return record?.id === id && isServed
  }

  async function serves(directory: KadNode['directory'], id: ApiId, server: string, signal: AbortSignal) {
    for await (const peer of directory.servers(id, signal)) if (peer.id === server) return true
    return false
  }
})
