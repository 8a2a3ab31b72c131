import assert from 'node:assert/strict'
import { compare } from 'uint8arrays/compare'
import { xor } from 'uint8arrays/xor'
import { apiId } from '../../../../lib/base/api-name.ts'
import { sha256 } from '../../../../lib/base/bytes.ts'
import { DHT_ASKED_AT_ONCE } from '../../../../lib/base/limits/directory.ts'
import { recordKey } from '../../../../lib/resolve/directory/keys.ts'
import { offerNamed } from '../fixtures.ts'
import { type KadNode, kadNetwork, stopAll } from './kad-network.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)

describe('the DHT with silent peers', () => {
  let nodes: KadNode[]

  before(async () => {
    nodes = await kadNetwork(DHT_ASKED_AT_ONCE + 2)
  })

  after(() => stopAll(nodes))

  /** Events of a lookup, in order. */
  async function lookUp({ dht }: KadNode, name: string, provider: string): Promise<string[]> {
    const seen: string[] = []
    for await (const { name: event } of dht.get(recordKey(apiId(name, provider)), { signal: soon() })) seen.push(event)
    return seen
  }

  it('asks further peers before the time of the silent ones is over', async () => {
    const [reader, owner, ...others] = nodes
    assert.ok(reader !== undefined && owner !== undefined)
    assert.equal(others.length, DHT_ASKED_AT_ONCE)
    const name = farthestName(owner, others)
    await owner.directory.publish(offerNamed(name, owner.self), soon())
    for (const { dht } of others) {
      const { handlers } = (dht as unknown as { rpc: { handlers: Record<string, object> } }).rpc
      handlers.GET_VALUE = { handle: () => new Promise(() => {}) }
    }
    const events = await lookUp(reader, name, owner.self)
    const [answered, failed] = [events.indexOf('PEER_RESPONSE'), events.indexOf('QUERY_ERROR')]
    assert.ok(failed >= 0, 'the silent peers were asked')
    assert.ok(answered >= 0 && answered < failed, events.join(' '))
  })
})

/** A name whose record is nearer to all others than to its owner, so that the owner is asked last. */
function farthestName(owner: KadNode, others: readonly KadNode[]): string {
  const idOf = ({ libp2p }: KadNode) => sha256(libp2p.peerId.toMultihash().bytes)
  for (let i = 0; ; i++) {
    const target = sha256(recordKey(apiId(`silent-${i}`, owner.self)))
    const own = xor(idOf(owner), target)
    if (others.every((other) => compare(xor(idOf(other), target), own) < 0)) return `silent-${i}`
  }
}
