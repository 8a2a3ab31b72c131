import assert from 'node:assert/strict'
import { createMemoryStore } from '../../../lib/index.ts'
import { HEALTH_FAILURES_MAX, HEALTH_PROBE_MS } from '../../../lib/base/limits/upstream.ts'
import type { Adapter, ListingState, Store } from '../../../lib/interface/index.ts'
import { Health } from '../../../node/upstream/health.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

describe('the health of an API', () => {
  let store: Store
  let clock: ManualClock
  let state: ListingState
  let isWell: boolean
  let asked: number
  let health: Health
  const logged: string[] = []
  const told: string[] = []

  const adapter: Adapter = {
    protocol: 'REST',
    description: { operations: [] },
    call: () => assert.fail('no call is made'),
    async probe() {
      asked++
      if (!isWell) throw new Error('secret words')
    }
  }
  const make = () =>
    new Health({
      tell: async (name, why) => void told.push(why === undefined ? `${name} is well` : `${name}: ${why}`),
      clock,
      documents: store.documents,
      log: (line) => logged.push(line),
      async move(name, from, to) {
        assert.equal(name, 'ticker')
        if (state !== from) return false
        state = to
        return true
      }
    })
  const probes = (times: number) => clock.advance(times * HEALTH_PROBE_MS)

  beforeEach(async () => {
    store = createMemoryStore()
    await store.open()
    clock = manualClock()
    state = 'published'
    isWell = true
    asked = 0
    logged.length = told.length = 0
    health = make()
    await health.watch('ticker', adapter)
  })
  afterEach(async () => {
    health.stop()
    assert.equal(clock.pending, 0)
    await store.close()
  })

  it('pauses its listing after consecutive failures, and publishes it again after recovery', async () => {
    isWell = false
    await probes(HEALTH_FAILURES_MAX - 1)
    assert.equal(state, 'published')
    await probes(1)
    assert.equal(state, 'paused')
    await probes(3)
    assert.deepEqual(logged, ['ticker is paused: This node has an internal error.'])
    isWell = true
    await probes(1)
    assert.equal(state, 'published')
    assert.equal(logged.length, 2)
    assert.deepEqual(told, ['ticker: This node has an internal error.', 'ticker is well'])
  })

  it('tolerates single failures', async () => {
    for (let i = 0; i < 4; i++) {
      isWell = false
      await probes(HEALTH_FAILURES_MAX - 1)
      isWell = true
      await probes(1)
    }
    assert.equal(state, 'published')
  })

  it('does not publish a listing that its provider paused', async () => {
    isWell = false
    await probes(HEALTH_FAILURES_MAX)
    await health.overrule('ticker')
    isWell = true
    await probes(2)
    assert.equal(state, 'paused')
  })

  it('remembers its own pauses over a restart', async () => {
    isWell = false
    await probes(HEALTH_FAILURES_MAX)
    health.stop()
    health = make()
    await health.watch('ticker', adapter)
    isWell = true
    await probes(1)
    assert.equal(state, 'published')
  })

  it('does not check APIs without a health check, or APIs no longer served', async () => {
    await health.forget('ticker')
    await health.watch('other', { ...adapter, probe: undefined as never })
    await probes(5)
    assert.equal(asked, 0)
  })
})
