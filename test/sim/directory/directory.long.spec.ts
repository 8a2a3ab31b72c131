import assert from 'node:assert/strict'
import { simulateDirectory } from './simulate.ts'

const NODES = 30
/** Some lookups of this network meet several dead peers. */
const SEED = 3
/** Limits in simulated time. kad-dht's own queries took 2,862 ms here. */
const FOUND_MS = 1_500
const FOUND_AT_ONCE_MS = 1_000
const ANNOUNCED_MS = 10_000

describe('a simulated network of dead and hostile nodes', () => {
  it('finds each API of a live node, and announces to all nodes within ten seconds', async () => {
    const { missed, untold, slowestMs, crowdP95Ms, toldSlowestMs, ...figures } = await simulateDirectory(
      { nodes: NODES, seed: SEED, slowMs: Infinity },
      () => {}
    )
    console.log(`      ${JSON.stringify(figures)}`)
    assert.deepEqual(missed, [])
    assert.ok(slowestMs < FOUND_MS, `the slowest lookup took ${slowestMs} ms`)
    assert.ok(crowdP95Ms < FOUND_AT_ONCE_MS, `one of twenty nodes that look up at once waited for ${crowdP95Ms} ms`)
    assert.equal(untold, 0)
    assert.ok(toldSlowestMs < ANNOUNCED_MS, `the slowest node heard of it after ${toldSlowestMs} ms`)
  })
})
