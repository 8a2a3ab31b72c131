import assert from 'node:assert/strict'
import { createNode } from '../../lib/index.ts'

describe('the service', () => {
  it('starts again after it was stopped', async () => {
    const node = await createNode()
    for (const peers of [0, 0]) {
      await node.start()
      assert.equal(node.souk.status().peers.length, peers)
      assert.equal(node.souk.status().alone, true)
      await node.stop()
    }
  })

  for (const [what, init] of [
    ['a network name', { network: 'No Network' }],
    ['a bootstrap address', { bootstrap: ['/ip4/127.0.0.1/tcp/1'] }],
    ['an agent', { agent: 'x'.repeat(65) }]
  ] as const) {
    it(`refuses ${what} that cannot be`, async () => {
      await assert.rejects(createNode(init), { code: 'invalid_request' })
    })
  }
})
