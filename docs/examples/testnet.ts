import assert from 'node:assert/strict'
import { handler } from 'souk'
import { createTestnet } from 'souk/testing'

const testnet = await createTestnet({ nodes: 3 })
const [, provider, consumer] = testnet.nodes
await provider?.souk.serve(
  { name: 'double', price: '0' },
  handler(({ body }) => Number(body) * 2)
)
const reply = await consumer?.souk.call({ api: 'double', body: 21 })
assert.equal(await reply?.json(), 42)
await testnet.stop()
