import assert from 'node:assert/strict'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { Signals, Store } from '../../../lib/interface/index.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { SharedCoherence } from '../../../node/accounts/coherence.ts'
import { Leases } from '../../../node/accounts/leases.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

const TOPIC = 'things'

/** Signals between processes. Signals to and from processes in `deaf` are lost. */
class Wires {
  readonly #listeners = new Map<string, Map<string, (text: string | undefined) => void>>()
  readonly deaf = new Set<string>()

  of(process: string): Signals {
    return {
      send: async (topic, text) => {
        for (const [name, heard] of this.#listeners) {
          if (!this.deaf.has(name) && !this.deaf.has(process)) heard.get(topic)?.(text)
        }
      },
      listen: (topic, hear) => {
        const heard = this.#listeners.get(process) ?? new Map<string, (text: string | undefined) => void>()
        this.#listeners.set(process, heard.set(topic, hear))
        return () => void heard.delete(topic)
      }
    }
  }
}

describe('cached data of processes that share a store', () => {
  let clock: ManualClock
  let store: Store
  let wires: Wires
  const running: Leases[] = []

  beforeEach(async () => {
    clock = manualClock()
    wires = new Wires()
    store = createMemoryStore()
    await store.open()
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((leases) => leases.stop()))
    await store.close()
  })

  async function start(holder: string, documents = store.documents) {
    const leases = new Leases({ documents, ledger: store.ledger, clock, random: systemRandom, holder })
    const coherence = new SharedCoherence({ signals: wires.of(holder), clock, leases, holder })
    await leases.start()
    running.push(leases)
    const heard: Array<string | undefined> = []
    coherence.listen(TOPIC, (text) => heard.push(text))
    return { coherence, heard }
  }
  const isOver = async (promise: Promise<unknown>) => {
    let over = false
    void promise.then(() => (over = true))
    await settle()
    return over
  }

  it('is dropped by all processes before a change resolves', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')]
    assert.ok(await isOver(a.coherence.changed(TOPIC, 'x y')))
    assert.deepEqual([b.heard, c.heard], [['x y'], ['x y']])
    assert.equal(clock.elapsed(), 0)
  })

  it('delays a change until it expires in a process that does not respond', async () => {
    const a = await start('a')
    const b = await start('b')
    wires.deaf.add('b')
    const changed = a.coherence.changed(TOPIC, 'x')
    assert.equal(await isOver(changed), false)
    await clock.advance(limits.SHARED_FRESH_MS - 1)
    assert.equal(await isOver(changed), false)
    await clock.advance(1)
    assert.equal(await isOver(changed), true)
    assert.deepEqual(b.heard, [])
  })

  it('delays a change until it expires if signals or the list of processes fail', async () => {
    const a = await start('a')
    wires.deaf.add('a')
    const list = () => Promise.reject(new Error('no database'))
    const broken = {
      ...store.documents,
      list: (collection: string) => (isDown ? list() : store.documents.list(collection))
    }
    let isDown = false
    const b = await start('b', broken)
    isDown = true
    for (const { coherence } of [a, b]) {
      const changed = coherence.changed(TOPIC, 'x')
      assert.equal(await isOver(changed), false)
      await clock.advance(limits.SHARED_FRESH_MS)
      assert.equal(await isOver(changed), true)
    }
    isDown = false
  })

  it('is dropped and not kept while other processes may not know of this one', async () => {
    let isStuck = false
    const put = store.documents.put.bind(store.documents)
    const stuck = {
      ...store.documents,
      put: (...args: Parameters<typeof put>) => (isStuck ? Promise.reject(new Error('stuck')) : put(...args))
    }
    const a = await start('a', stuck)
    assert.equal(a.coherence.mayKeep(), true)
    isStuck = true
    await clock.advance(limits.HOLDER_MS / 2 - 1)
    assert.equal(a.coherence.mayKeep(), true)
    await clock.advance(1)
    assert.equal(a.coherence.mayKeep(), false)
    isStuck = false
    assert.deepEqual(a.heard, [])
    await clock.advance(limits.HOLDER_BEAT_MS)
    assert.equal(a.coherence.mayKeep(), true)
    assert.deepEqual(a.heard, [undefined])
  })
})
