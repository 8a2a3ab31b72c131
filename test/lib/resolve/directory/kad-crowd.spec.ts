import assert from 'node:assert/strict'
import type { KadDHT } from '@libp2p/kad-dht'
import { DIRECTORY_WALKS_MAX } from '../../../../lib/base/limits/directory.ts'
import { createKadDirectory } from '../../../../lib/resolve/directory/kad-directory.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf } from '../fixtures.ts'

/** A DHT that responds when the test tells it to, and counts lookups. */
function slowDht() {
  const running = new Set<() => void>()
  const counts = { most: 0, asked: 0 }
  async function* walk() {
    const { promise, resolve } = Promise.withResolvers<void>()
    running.add(resolve)
    counts.asked++
    counts.most = Math.max(counts.most, running.size)
    await promise
    running.delete(resolve)
    yield { name: 'VALUE' }
  }
  const dht = { findProviders: walk, get: walk, validators: {}, selectors: {} } as unknown as KadDHT
  return { dht, counts, answer: () => [...running].forEach((end) => end()), running }
}

describe('many concurrent DHT lookups', () => {
  it('run a limited number at a time, and all finish', async () => {
    const { dht, counts, answer, running } = slowDht()
    const privateKey = await keyOf('asker')
    const directory = createKadDirectory({ dht, privateKey, clock: manualClock() })
    const { signal } = new AbortController()
    const claimants = async (name: string, until = signal) => {
      for await (const peer of directory.claimants(name, until)) assert.ok(peer)
    }
    const crowd = Array.from({ length: 3 * DIRECTORY_WALKS_MAX }, (_, i) =>
      i % 2 === 0 ? claimants(`api-${i}`) : directory.record(`api-${i}@${idOf(privateKey)}`, signal)
    )
    const impatient = new AbortController()
    const left = claimants('left', impatient.signal)
    await settle()
    assert.equal(running.size, DIRECTORY_WALKS_MAX)
    impatient.abort(new Error('nobody waits'))
    await left
    for (let round = 0; round < 4; round++) {
      answer()
      await settle()
    }
    await Promise.all(crowd)
    assert.deepEqual(counts, { most: DIRECTORY_WALKS_MAX, asked: crowd.length })
  })
})
