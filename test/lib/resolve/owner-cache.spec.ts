import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import {
  LOOKUPS_MS,
  RESOLUTION_FRESH_MS,
  RESOLUTION_NEGATIVE_MS,
  RESOLUTION_STALE_MS
} from '../../../lib/base/limits/directory.ts'
import { createOwnerCache, type Loader, type OwnerCache } from '../../../lib/resolve/owner-cache.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

describe('owner cache', () => {
  let clock: ManualClock
  let cache: OwnerCache<string>
  let loads: number
  const signal = new AbortController().signal

  beforeEach(() => {
    clock = manualClock()
    cache = createOwnerCache({ clock, bytesMax: 1_000_000, bytesOf: (value) => value.length })
    loads = 0
  })

  const load: Loader<string> = async () => `answer ${++loads}`
  const fail: Loader<string> = async () => {
    loads++
    throw new SoukError('api_not_found')
  }
  const get = (loader = load) => cache.get('key', loader, { signal })

  it('loads once for concurrent callers, and once while the value is fresh', async () => {
    const answers = await Promise.all([get(), get(), get()])
    assert.deepEqual(answers, ['answer 1', 'answer 1', 'answer 1'])
    await clock.advance(RESOLUTION_FRESH_MS - 1)
    assert.equal(await get(), 'answer 1')
    assert.equal(loads, 1)
  })

  it('returns a stale value at once, and a fresh one the next time', async () => {
    await get()
    await clock.advance(RESOLUTION_FRESH_MS)
    assert.equal(await get(), 'answer 1')
    await settle()
    assert.equal(await get(), 'answer 2')
    assert.equal(loads, 2)
  })

  it('returns no value that is too old', async () => {
    await get()
    await clock.advance(RESOLUTION_STALE_MS)
    assert.equal(await get(), 'answer 2')
  })

  it('does not cache that the node is offline', async () => {
    const offline = new SoukError('owner_unreachable', 'offline', { members: { reason: 'network_unreachable' } })
    await assert.rejects(get(async () => Promise.reject(offline)))
    assert.equal(await get(), 'answer 1')
  })

  it('keeps a stale value when a reload fails, and delays the next attempt', async () => {
    await get()
    await clock.advance(RESOLUTION_FRESH_MS)
    for (let i = 0; i < 5; i++) {
      assert.equal(await get(fail), 'answer 1')
      await settle()
    }
    assert.equal(loads, 2)
    await clock.advance(RESOLUTION_NEGATIVE_MS)
    assert.equal(await get(), 'answer 1')
    await settle()
    assert.equal(await get(), 'answer 3')
  })

  it('caches "not found" only briefly', async () => {
    await assert.rejects(get(fail), { code: 'api_not_found' })
    await assert.rejects(get(), { code: 'api_not_found' })
    assert.equal(loads, 1)
    await clock.advance(RESOLUTION_NEGATIVE_MS)
    assert.equal(await get(), 'answer 2')
  })

  it('reloads on demand, past cached values and errors', async () => {
    await get()
    assert.equal(await cache.get('key', load, { signal, refresh: true }), 'answer 2')
    assert.equal(await get(), 'answer 2')
    cache.drop('key')
    await assert.rejects(get(fail))
    assert.equal(await cache.get('key', load, { signal, refresh: true }), 'answer 4')
  })

  it('uses nothing that was dropped, not even a running load', async () => {
    await get()
    cache.drop('key')
    assert.equal(await get(), 'answer 2')

    cache.drop('key')
    const slow = Promise.withResolvers<string>()
    const early = get(() => slow.promise)
    cache.drop('key')
    const late = get()
    slow.resolve('outdated')
    assert.equal(await early, 'outdated')
    assert.equal(await late, 'answer 3')
    assert.equal(await get(), 'answer 3')
  })

  it('reloads in the background when a newer value is known', async () => {
    await get()
    cache.expire('key')
    assert.equal(await get(), 'answer 1')
    await settle()
    assert.equal(await get(), 'answer 2')
  })

  it('ends the load at its timeout, and a caller at its own signal', async () => {
    const controller = new AbortController()
    const stuck: Loader<string> = (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const leaving = cache.get('key', stuck, { signal: controller.signal })
    const staying = get(stuck)
    controller.abort(new Error('enough'))
    await assert.rejects(leaving, /enough/)
    const outcome = assert.rejects(staying, { code: 'lookup_timeout' })
    await clock.advance(LOOKUPS_MS)
    await outcome
  })

  it('evicts the least recently used value', async () => {
    const small = createOwnerCache<string>({ clock, bytesMax: 2_000, bytesOf: () => 1_000 })
    for (const key of ['a', 'b']) await small.get(key, load, { signal })
    assert.equal(await small.get('b', load, { signal }), 'answer 2')
    assert.equal(await small.get('a', load, { signal }), 'answer 3')
  })
})
