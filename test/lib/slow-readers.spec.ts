import assert from 'node:assert/strict'
import { createNode, type SoukNode } from '../../lib/index.ts'
import type { Adapter, CallReply } from '../../lib/interface/index.ts'
import { within } from '../helpers/eventually.ts'

/** More than an owner once had streams for, to one node. */
const UNREAD = 200
const CHUNK = new Uint8Array(64 * 1024)
const CHUNKS = 8

/** Its responses are streams. */
const large: Adapter = {
  protocol: 'REST',
  description: { operations: [{ name: 'call', description: 'Returns zeros.' }] },
  call: async () => ({ status: 200, headers: [], body: zeros(), success: true, upstreamMs: 0 })
}

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < CHUNKS; at++) yield CHUNK
}

describe('responses that nobody reads', () => {
  const nodes: SoukNode[] = []
  const up = async (bootstrap: readonly string[] = []): Promise<SoukNode> => {
    const node = await createNode({ network: 'slow-readers', bootstrap })
    nodes.push(node)
    await node.start()
    return node
  }
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
  })

  it('do not break those of other consumers, whose calls are charged', async () => {
    const owner = await up()
    await owner.souk.serve({ name: 'large', price: '0' }, large)
    const { souk } = await up(owner.libp2p.getMultiaddrs().map(String))
    const slow: CallReply[] = []
    for (let at = 0; at < UNREAD; at++) slow.push(await souk.call({ api: 'large', body: {} }))
    const { body } = await souk.call({ api: 'large', body: {} })
    assert.ok(!(body instanceof Uint8Array))
    const read = async () => {
      let bytes = 0
      for await (const chunk of body) bytes += chunk.length
      return bytes
    }
    assert.equal(await within('the response', 10_000, read()), CHUNKS * CHUNK.length)
    for (const { body: unread } of slow) await (unread as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
  })
})
