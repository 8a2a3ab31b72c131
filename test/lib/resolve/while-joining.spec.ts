import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { JOINING_RETRY_MS } from '../../../lib/base/limits/link.ts'
import { whileJoining } from '../../../lib/resolve/while-joining.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

const PATIENCE_MS = 1_000

describe('a lookup of a node that joins its network', () => {
  let clock: ManualClock
  let lookups: number
  let isJoining: boolean
  let stop: AbortController

  beforeEach(() => {
    clock = manualClock()
    lookups = 0
    isJoining = true
    stop = new AbortController()
  })
  afterEach(() => assert.equal(clock.pending, 0))

  const missing = new SoukError('api_not_found')
  const run = (look: () => Promise<string>, connected = Promise.resolve()) => {
    const joining = {
      hasOthers: true,
      connected: () => connected,
      get isJoining() {
        return isJoining
      }
    }
    const once = () => {
      lookups++
      return look()
    }
    return whileJoining(joining, clock, once, stop.signal)
  }
  const never = async () => Promise.reject(missing)

  it('waits for a peer', async () => {
    const peer = Promise.withResolvers<void>()
    const found = run(async () => 'found', peer.promise)
    await settle()
    assert.equal(lookups, 0)
    peer.resolve()
    assert.equal(await found, 'found')
  })

  it('is repeated until it finds the API', async () => {
    const found = run(async () => (lookups === 3 ? 'found' : Promise.reject(missing)))
    await clock.advance(2 * JOINING_RETRY_MS)
    assert.equal(await found, 'found')
  })

  it('is not repeated once the node has joined', async () => {
    const found = run(never)
    void found.catch(() => {})
    await clock.advance(JOINING_RETRY_MS)
    isJoining = false
    await clock.advance(JOINING_RETRY_MS)
    await assert.rejects(found, missing)
    assert.equal(lookups, 3)
  })

  it('is not repeated after another error', async () => {
    const conflict = new SoukError('name_conflict')
    await assert.rejects(
      run(async () => Promise.reject(conflict)),
      conflict
    )
    assert.equal(lookups, 1)
  })

  it('ends with what it found out when its time is up', async () => {
    const late = new SoukError('lookup_timeout')
    const found = run(async () => (stop.signal.aborted ? Promise.reject(late) : Promise.reject(missing)))
    void found.catch(() => {})
    await clock.advance(PATIENCE_MS)
    stop.abort(late)
    await assert.rejects(found, missing)
  })
})
