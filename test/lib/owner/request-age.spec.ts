import assert from 'node:assert/strict'
import { KEEP_FREE_CALLS_MS, REQUEST_AGE_MS_MAX, REQUEST_ID_AHEAD_MS } from '../../../lib/base/limits/store.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { idOfTime } from '../../../lib/base/request-id.ts'
import { incoming, NEVER, OwnerBench } from './bench.ts'

describe('the age of a request', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
  })
  const idAt = (age: number): Uint8Array => {
    const id = idOfTime(bench.clock.now() - age)
    id[15] = 1
    return id
  }

  it('is limited by the retention of records: older requests never run, at any owner', async () => {
    for (const age of [REQUEST_AGE_MS_MAX + 1, 400 * DAY_MS, bench.clock.now()]) {
      for (const resent of [{}, { resentFromEpoch: 1n }, { idempotencyKey: `key ${age}` }]) {
        const call = bench.handle({ requestId: idAt(age), ...resent })
        // Another owner may run a call that no owner has seen: this one's clock may be wrong.
        const notAccepted = !('resentFromEpoch' in resent)
        await assert.rejects(call, { code: 'request_expired', status: 410, notAccepted })
      }
    }
    assert.equal(bench.adapter.reached.length, 0)
    assert.deepEqual(await bench.records(), [])
  })

  it('may be up to that limit, and slightly in the future', async () => {
    for (const age of [REQUEST_AGE_MS_MAX, 0, -REQUEST_ID_AHEAD_MS]) {
      assert.equal((await bench.handle({ requestId: idAt(age) })).status, 200)
    }
    await assert.rejects(bench.handle({ requestId: idAt(-REQUEST_ID_AHEAD_MS - 1) }), { code: 'invalid_request' })
    await assert.rejects(bench.handle({ requestId: new Uint8Array(16).fill(255) }), { code: 'invalid_request' })
    assert.equal(bench.adapter.reached.length, 3)
  })

  it('exceeds the limit for every call whose record may be deleted, even with a fast clock', async () => {
    const { clock, store, adapter } = bench
    const call = incoming({ requestId: idAt(-REQUEST_ID_AHEAD_MS) })
    await bench.owner.handle(call, NEVER)
    store.calls.acknowledge(call.peer, [call.requestId])
    await bench.handle()
    const trim = () => {
      const freeBefore = clock.now() - KEEP_FREE_CALLS_MS
      return store.retention.trim({ before: 0, freeBefore, now: clock.now(), kinds: [], isDue: () => true, limit: 10 })
    }
    await clock.advance(KEEP_FREE_CALLS_MS)
    assert.equal((await trim()).calls, 0)
    await trim()
    await clock.advance(1)
    assert.equal((await trim()).calls, 1)
    assert.equal(await store.calls.find(call.peer, call.requestId), undefined)
    for (const resentFromEpoch of [undefined, 100n, 99n]) {
      const repeat = resentFromEpoch === undefined ? call : { ...call, resentFromEpoch }
      await assert.rejects(bench.owner.handle(repeat, NEVER), { code: 'request_expired' })
    }
    assert.equal(adapter.reached.length, 2)
  })
})
