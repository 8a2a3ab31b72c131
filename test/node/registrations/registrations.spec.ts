import assert from 'node:assert/strict'
import { createMemoryStore, SoukError } from '../../../lib/index.ts'
import type { Adapter, AdapterFactory, Clock, Listing, Souk, Store } from '../../../lib/interface/index.ts'
import { Payout } from '../../../node/payments/payout.ts'
import { Registrations } from '../../../node/registrations/registrations.ts'

const PROVIDER = '12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX'
const ID = `ticker@${PROVIDER}` as const

/** A clock whose timers run only when the test triggers them. */
class ManualClock implements Clock {
  readonly waiting = new Set<() => void>()
  now = () => 1_000
  elapsed = () => 0
  soon = (task: () => void) => task()
  after(_delayMs: number, task: () => void) {
    this.waiting.add(task)
    return { cancel: () => void this.waiting.delete(task) }
  }
  runOut(): void {
    const due = [...this.waiting]
    this.waiting.clear()
    for (const task of due) task()
  }
}

/** A replica whose provider may be offline. */
describe('registrations', () => {
  let store: Store
  let clock: ManualClock
  let logged: string[]
  let providerIsUp: boolean
  let served: Adapter[]
  let closed: number
  let inspected: number
  let onInspect: () => Promise<void>

  const factory: AdapterFactory = {
    protocol: 'REST',
    async inspect() {
      inspected++
      await onInspect()
      return { description: { operations: [] }, snapshot: 'snapshot', warnings: [] }
    },
    open: (_config, snapshot) => {
      assert.equal(snapshot, 'snapshot')
      return {
        protocol: 'REST',
        description: { operations: [] },
        call: () => assert.fail('no call is made'),
        close: async () => void closed++
      }
    }
  }
  const listing = {
    signed: { id: ID, manifest: { name: 'ticker', provider: PROVIDER, protocol: 'REST' } },
    own: false,
    state: 'published'
  } as unknown as Listing

  function registrations(): Registrations {
    const souk = {
      resolve: async () => ({ signed: listing.signed, owners: [] }),
      async serveReplica(id: string, adapter: Adapter) {
        assert.equal(id, ID)
        if (!providerIsUp) throw new SoukError('api_not_found', 'The API is unknown.')
        served.push(adapter)
        return listing
      },
      listings: () => (served.length > 0 ? [listing] : []),
      remove: async (name: string) => {
        assert.equal(name, ID)
        served = []
      }
    } as unknown as Souk
    return new Registrations({
      souk,
      documents: store.documents,
      factories: { REST: async () => factory },
      clock,
      payout: new Payout({ profile: { name: 'tests', directory: '/nowhere' }, payout: undefined, isNeeded: false }),
      log: (line) => logged.push(line)
    })
  }

  beforeEach(async () => {
    store = createMemoryStore()
    await store.open()
    clock = new ManualClock()
    logged = []
    served = []
    closed = 0
    inspected = 0
    onInspect = async () => {}
    providerIsUp = true
    await registrations().serve(ID, { endpoint: 'http://127.0.0.1:9/' }, new AbortController().signal)
    assert.equal(inspected, 1)
    served = []
  })
  afterEach(() => store.close())

  it('serves a replica again without contacting the upstream', async () => {
    const again = registrations()
    await again.restore()
    assert.equal(served.length, 1)
    assert.equal(inspected, 1)
    assert.equal(again.show('ticker').problem, undefined)
    assert.equal(clock.waiting.size, 0)
  })

  it('retries while the provider is offline, and logs it once', async () => {
    providerIsUp = false
    const again = registrations()
    await again.restore()
    assert.equal(again.show('ticker').problem, 'The API is unknown.')
    clock.runOut()
    await again.check(again.show('ticker').registration, new AbortController().signal)
    await turn(() => clock.waiting.size === 1)
    assert.deepEqual(logged, ['ticker is not served: The API is unknown.'])
    assert.equal(closed, 2)

    providerIsUp = true
    clock.runOut()
    await turn(() => served.length === 1)
    assert.equal(again.show('ticker').problem, undefined)
    assert.deepEqual(logged.slice(1), ['ticker is served again.'])
    assert.equal(clock.waiting.size, 0)
  })

  it('schedules one retry, however often serving is requested', async () => {
    providerIsUp = false
    const again = registrations()
    await again.restore('replica')
    await again.restore()
    assert.equal(clock.waiting.size, 1)
    again.stop()
    assert.equal(clock.waiting.size, 0)
  })

  it('stops retrying when the node stops or the replica is removed', async () => {
    providerIsUp = false
    const stopped = registrations()
    await stopped.restore()
    stopped.stop()
    assert.equal(clock.waiting.size, 0)

    const removed = registrations()
    await removed.restore()
    await removed.remove('ticker')
    providerIsUp = true
    clock.runOut()
    await removed.remove('ticker').catch(() => {})
    assert.equal(served.length, 0)
    assert.deepEqual(removed.list(), [])
  })

  it('changes other listings while the upstream of a replica does not respond', async () => {
    const again = registrations()
    await again.restore()
    const responds = Promise.withResolvers<void>()
    onInspect = () => responds.promise
    const serving = again.serve(ID, { endpoint: 'http://127.0.0.1:9/' }, new AbortController().signal)
    await turn(() => inspected === 2)
    await again.remove('ticker')
    assert.deepEqual(again.list(), [])
    responds.resolve()
    await serving
    assert.equal(again.list().length, 1)
  })

  it('rejects a name that is in use', async () => {
    const again = registrations()
    await again.restore()
    const signal = new AbortController().signal
    await assert.rejects(
      again.register(
        { terms: { name: 'ticker', price: '0' }, protocol: 'REST', asked: { endpoint: 'http://127.0.0.1:9/' } },
        signal
      ),
      (error: SoukError) => error.code === 'invalid_request'
    )
    await assert.rejects(
      again.register(
        { terms: { name: 'soap', price: '0' }, protocol: 'SOAP', asked: { endpoint: 'http://127.0.0.1:9/' } },
        signal
      ),
      /no adapter for SOAP/
    )
  })
})

async function turn(reached: () => boolean): Promise<void> {
  for (let turns = 0; !reached(); turns++) {
    if (turns > 100) throw new Error(`Never became true: ${reached.toString()}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
