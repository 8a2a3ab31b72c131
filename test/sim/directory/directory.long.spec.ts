import assert from 'node:assert/strict'
import { simulateDirectory } from './simulate.ts'

const NODES = 30
/** Limit in simulated time. */
const ANNOUNCED_MS = 10_000

describe('a simulated network of dead and hostile nodes', () => {
  it('finds each API of a live node, and announces to all nodes within ten seconds', async () => {
    const { missed, untold, toldSlowestMs, ...figures } = await simulateDirectory(NODES, () => {})
    console.log(`      ${JSON.stringify(figures)}`)
    assert.deepEqual(missed, [])
    assert.equal(untold, 0)
    assert.ok(toldSlowestMs < ANNOUNCED_MS, `the slowest node heard of it after ${toldSlowestMs} ms`)
  })
})
