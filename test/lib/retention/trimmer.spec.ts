import assert from 'node:assert/strict'
import {
  CLOCK_JUMP_MS,
  CLOCK_TRUSTED_MS,
  IDEMPOTENCY_MS,
  KEEP_FREE_CALLS_MS,
  STORED_RESPONSE_MS,
  TRIM_PASS_MS,
  TRIM_ROUND_MS,
  TRIM_ROWS
} from '../../../lib/base/limits/store.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { formatRequestId, idOfTime } from '../../../lib/base/request-id.ts'
import type { Posting } from '../../../lib/interface/ledger.ts'
import type { CallRecord, Store } from '../../../lib/interface/store.ts'
import { Trimmer, type TrimmerInit } from '../../../lib/retention/trimmer.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { callRecord, peerId, storedResponse } from '../../helpers/call-record.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

const KEEP_MS = 400 * DAY_MS
const POSTINGS: Posting[] = [
  { account: 'receivable/c', amount: 5n },
  { account: 'earned/c', amount: -5n }
]

describe('the trimmer', () => {
  let clock: ManualClock
  let store: Store
  const errors: unknown[] = []
  beforeEach(async () => {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    // The clock is known.
    await store.documents.put('retention', 'time', JSON.stringify({ last: clock.now() }))
    errors.length = 0
  })
  const trimmer = (init: Partial<TrimmerInit> = {}) =>
    new Trimmer({ clock, store, keepMs: KEEP_MS, kinds: ['lease'], onError: (error) => errors.push(error), ...init })
  const append = async (age: number, isPaid: boolean, overrides: Partial<CallRecord> = {}) => {
    const record = callRecord({ at: clock.now() - age, charged: isPaid ? 5n : 0n, ...overrides })
    await store.calls.append(record, isPaid ? { postings: POSTINGS } : {})
    return record
  }
  const has = async ({ peer, requestId }: CallRecord) => (await store.calls.find(peer, requestId)) !== undefined
  const round = async (init: Partial<TrimmerInit> = {}) => {
    const running = trimmer(init).round()
    await clock.advance(60_000)
    await running
  }

  describe('before a clock that may be wrong', () => {
    const old = () => append(KEEP_FREE_CALLS_MS + 1, false)

    it('deletes nothing before the clock has run on for a day, also over restarts', async () => {
      const record = await old()
      await clock.advance(CLOCK_JUMP_MS + 1)
      for (let hours = 0; hours < 24; hours += 8) {
        await round()
        assert.equal(await has(record), true)
        await clock.advance(CLOCK_TRUSTED_MS / 3)
      }
      await append(0, true)
      await round()
      assert.equal(await has(record), false)
    })

    it('goes on at once when the clock was set back', async () => {
      const record = await old()
      await append(0, true)
      let setBy = 450 * DAY_MS
      const wrong = { ...clock, now: () => clock.now() + setBy, elapsed: clock.elapsed, after: clock.after }
      await round({ clock: wrong })
      assert.equal(await has(record), true)
      setBy = 0
      await round({ clock: wrong })
      assert.equal(await has(record), false)
    })

    it('deletes nothing at first with books that have no time yet', async () => {
      await store.documents.delete('retention', 'time')
      const record = await old()
      await append(0, true)
      await round()
      assert.equal(await has(record), true)
      await clock.advance(CLOCK_TRUSTED_MS)
      await round()
      assert.equal(await has(record), false)
    })
  })

  it('keeps charged calls for the configured time, and free calls for a month', async () => {
    await store.ledger.book({ kind: 'lease', reference: 'a', at: 1, postings: POSTINGS })
    await store.ledger.book({ kind: 'claim', reference: 'a', at: 1, postings: POSTINGS })
    const gone = [await append(KEEP_MS + 1, true), await append(KEEP_FREE_CALLS_MS + 1, false)]
    const kept = [await append(KEEP_MS, true), await append(KEEP_FREE_CALLS_MS, false), await append(0, true)]
    await append(0, true)
    const before = await store.ledger.balances('')
    await round()
    assert.deepEqual(await Promise.all(gone.map(has)), [false, false])
    assert.deepEqual(await Promise.all(kept.map(has)), [true, true, true])
    assert.deepEqual(await store.ledger.balances(''), before)
    const kinds = (await store.ledger.entries({ limit: 10 })).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['claim', 'call', 'call', 'call'])
  })

  it('keeps all calls, entries and receipts if configured, but deletes expired data', async () => {
    const record = await append(10 * KEEP_MS, true, { response: storedResponse() })
    await append(0, true)
    await store.documents.put('receipts', formatRequestId(idOfTime(1)), 'x')
    await store.documents.putAll([{ collection: 'answers', key: 'a', value: 'x', expiresAt: clock.now() }])
    const paymentScheme = { collections: ['receipts'], kinds: [], isDue: () => true }
    await round({ keepMs: Infinity, paymentScheme })
    assert.equal(await has(record), true)
    assert.equal((await store.calls.find(record.peer, record.requestId))?.response, undefined)
    assert.equal((await store.documents.list('receipts')).length, 1)
    assert.deepEqual(await store.documents.list('answers'), [])
  })

  it('deletes old responses, keys and receipts, and no newer ones', async () => {
    const name = (n: number) => new Uint8Array(32).fill(n)
    const claim = (n: number, age: number) =>
      store.claims.take({ name: name(n), holder: peerId('O'), epoch: 1n, at: clock.now() - age }, 0)
    const [old, young] = [
      await append(STORED_RESPONSE_MS + 1, false, { response: storedResponse() }),
      await append(STORED_RESPONSE_MS - 60_000, false, { response: storedResponse() })
    ]
    await claim(1, IDEMPOTENCY_MS + 1)
    await claim(2, IDEMPOTENCY_MS - 60_000)
    const receipt = (age: number) => formatRequestId(idOfTime(clock.now() - age))
    for (let n = 1; n <= 2 * TRIM_ROWS + 10; n++) await store.documents.put('receipts', receipt(KEEP_MS + n), 'x')
    const kept = [receipt(KEEP_MS - 60_000), receipt(0)]
    for (const key of kept) await store.documents.put('receipts', key, 'x')
    await round({ paymentScheme: { collections: ['receipts'], kinds: [], isDue: () => true } })
    const responses = [old, young].map(
      async ({ peer, requestId }) => (await store.calls.find(peer, requestId))?.response
    )
    assert.deepEqual(
      (await Promise.all(responses)).map((response) => response !== undefined),
      [false, true]
    )
    assert.deepEqual(
      (await store.documents.list('receipts')).map(({ key }) => key),
      kept
    )
    const again = await Promise.all(
      [1, 2].map((n) => store.claims.take({ name: name(n), holder: 'x', epoch: 2n, at: 0 }, 0))
    )
    assert.deepEqual(
      again.map((known) => known === undefined),
      [true, false]
    )
  })

  it('asks the payment scheme before it deletes earnings', async () => {
    const record = await append(KEEP_MS + 1, true)
    await append(0, true)
    const isDue = (account: string, total: bigint) => !(account === 'earned/c' && total === -5n)
    await round({ paymentScheme: { collections: [], kinds: [], isDue } })
    assert.equal(await has(record), true)
  })

  it('runs in slices, makes one pass a day, and ends when it is stopped', async () => {
    for (let n = 0; n < 3 * TRIM_ROWS; n++) await append(KEEP_MS + 1, false)
    await append(0, true)
    const slices: number[] = []
    const { trim } = store.retention
    const watched: Store = {
      ...store,
      retention: {
        trim: (rules) => {
          slices.push(clock.elapsed())
          return trim(rules)
        }
      }
    }
    const running = trimmer({ store: watched })
    running.start()
    await clock.advance(TRIM_ROUND_MS - 1)
    assert.deepEqual(slices, [])
    await clock.advance(60_000)
    assert.ok(slices.length >= 4, `${slices.length} slices`)
    assert.equal(new Set(slices).size, slices.length, 'two slices without a pause between them')
    assert.equal((await store.calls.recent({ limit: 10_000 })).length, 1)
    const first = slices.length
    await clock.advance(TRIM_PASS_MS / 2)
    assert.equal(slices.length, first)
    await clock.advance(TRIM_PASS_MS / 2 + TRIM_ROUND_MS)
    assert.ok(slices.length > first)
    await running.stop()
    const last = slices.length
    await clock.advance(3 * TRIM_PASS_MS)
    assert.equal(slices.length, last)
    assert.deepEqual(errors, [])
  })
})
