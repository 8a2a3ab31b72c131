import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { LOOKUP_MS } from '../../../lib/base/limits/directory.ts'
import { JOINING_RETRY_MS, RETURN_MS, RETURN_RETRY_MS } from '../../../lib/base/limits/link.ts'
import { ALONE, type Joining, type LookupAttempt, repeatLookup } from '../../../lib/resolve/repeat-lookup.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

const PATIENCE_MS = 1_000

describe('a lookup that finds nothing', () => {
  let clock: ManualClock
  let lookups: number
  let stop: AbortController

  beforeEach(() => {
    clock = manualClock()
    lookups = 0
    stop = new AbortController()
  })
  afterEach(() => assert.equal(clock.pending, 0))

  const missing = new SoukError('api_not_found')
  const unreachable = new SoukError('owner_unreachable')
  const offline = new SoukError('owner_unreachable', undefined, { members: { reason: 'network_unreachable' } })
  const run = (look: (attempt: LookupAttempt) => Promise<string>, state: Partial<Joining>, isForCall = true) => {
    const once = (attempt: LookupAttempt) => {
      lookups++
      return look(attempt)
    }
    // Not spread, because the state of a node changes during the lookup.
    const joining = Object.setPrototypeOf(state, ALONE) as Joining
    const found = repeatLookup({ joining, clock, isForCall }, once, stop.signal)
    found.catch(() => {})
    return found
  }
  const never = async () => Promise.reject(missing)
  const silent = async ({ onSilent }: LookupAttempt) => {
    onSilent('owner')
    return Promise.reject(unreachable)
  }

  it('waits for a peer', async () => {
    const peer = Promise.withResolvers<void>()
    const found = run(async () => 'found', { connected: () => peer.promise })
    await settle()
    assert.equal(lookups, 0)
    peer.resolve()
    assert.equal(await found, 'found')
  })

  it('is repeated while the node joins, until it finds the API', async () => {
    const found = run(async () => (lookups === 3 ? 'found' : Promise.reject(missing)), { isJoining: true })
    await clock.advance(2 * JOINING_RETRY_MS)
    assert.equal(await found, 'found')
  })

  it('is not repeated once the node has joined', async () => {
    const joining = { isJoining: true }
    const found = run(never, joining)
    await clock.advance(JOINING_RETRY_MS)
    joining.isJoining = false
    await clock.advance(JOINING_RETRY_MS)
    await assert.rejects(found, missing)
    assert.equal(lookups, 3)
  })

  it('is repeated while a peer that was connected a moment ago may return', async () => {
    const wasConnected = (peer: string) => peer === 'owner'
    const found = run(async (attempt) => (clock.elapsed() < RETURN_MS / 2 ? silent(attempt) : 'found'), {
      wasConnected
    })
    for (let turn = 0; turn < RETURN_MS / RETURN_RETRY_MS; turn++) await clock.advance(RETURN_RETRY_MS)
    assert.equal(await found, 'found')
  })

  it('is not repeated for a peer that was not connected, nor after the time of its return', async () => {
    await assert.rejects(run(silent, { wasConnected: (peer) => peer === 'another' }), unreachable)
    assert.equal(lookups, 1)
    const found = run(silent, { wasConnected: () => true })
    for (let turn = 0; turn <= RETURN_MS / RETURN_RETRY_MS; turn++) await clock.advance(RETURN_RETRY_MS)
    await assert.rejects(found, unreachable)
  })

  it('is not repeated for somebody who only asks', async () => {
    await assert.rejects(run(silent, { wasConnected: () => true }, false), unreachable)
  })

  it('is repeated while peers are connected, but none responds', async () => {
    const found = run(async () => (lookups === 2 ? 'found' : Promise.reject(offline)), { isConnected: true })
    await clock.advance(2 * JOINING_RETRY_MS)
    assert.equal(await found, 'found')
    await assert.rejects(
      run(async () => Promise.reject(offline), {}),
      offline
    )
  })

  it('is repeated for a call if it took too long, while peers are connected', async () => {
    const late = new SoukError('lookup_timeout')
    const look = async () => (lookups === 2 ? 'found' : Promise.reject(late))
    const found = run(look, { isConnected: true })
    await clock.advance(2 * JOINING_RETRY_MS)
    assert.equal(await found, 'found')
    lookups = 0
    await assert.rejects(run(look, { isConnected: true }, false), late)
    lookups = 0
    await assert.rejects(run(look, {}), late)
  })

  it('is not repeated after another error', async () => {
    const conflict = new SoukError('name_conflict')
    await assert.rejects(
      run(async () => Promise.reject(conflict), { isJoining: true }),
      conflict
    )
    assert.equal(lookups, 1)
  })

  it('has its own time limit each time', async () => {
    const hanging = async ({ signal }: LookupAttempt): Promise<string> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    const found = run(async (attempt) => (lookups === 1 ? never() : hanging(attempt)), { isJoining: true })
    await clock.advance(JOINING_RETRY_MS)
    await clock.advance(LOOKUP_MS)
    await assert.rejects(found, { code: 'lookup_timeout' })
  })

  it('ends with what it found out when its time is up', async () => {
    const late = new SoukError('lookup_timeout')
    const look = async () => (stop.signal.aborted ? Promise.reject(late) : Promise.reject(missing))
    const found = run(look, { isJoining: true })
    await clock.advance(PATIENCE_MS)
    stop.abort(late)
    await assert.rejects(found, missing)
  })
})
