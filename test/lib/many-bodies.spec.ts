import assert from 'node:assert/strict'
import { BULK_STREAMS_WAITING_PER_PEER_MAX, INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { createNode, handler, type SoukNode } from '../../lib/index.ts'

/** More streams than a peer keeps that no frame has announced. */
const CALLS = 2 * BULK_STREAMS_WAITING_PER_PEER_MAX

describe('many calls at once whose bodies have streams of their own', () => {
  let owner: SoukNode
  let consumer: SoukNode

  before(async () => {
    owner = await createNode({ network: 'many-bodies' })
    await owner.start()
    consumer = await createNode({ network: 'many-bodies', bootstrap: owner.libp2p.getMultiaddrs().map(String) })
    await consumer.start()
    await owner.souk.serve(
      { name: 'echo', price: '0' },
      handler(({ body }) => body)
    )
  })
  after(async () => {
    await consumer.stop()
    await owner.stop()
  })

  it('all succeed, in both directions', async () => {
    const body = 'x'.repeat(INLINE_BODY_BYTES_MAX)
    const call = async () => (await consumer.souk.call({ api: 'echo', body })).json()
    // Afterwards the link is open, so all calls leave in one turn.
    await call()
    const replies = await Promise.all(Array.from({ length: CALLS }, call))
    assert.ok(replies.every((reply) => reply === body))
  })
})
