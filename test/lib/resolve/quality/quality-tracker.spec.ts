import assert from 'node:assert/strict'
import { apiId } from '../../../../lib/base/api-name.ts'
import { QUALITY_APIS_MAX, QUALITY_WRITE_MS, SERVERS_MAX } from '../../../../lib/base/limits/directory.ts'
import type { Grade } from '../../../../lib/interface/listing-index.ts'
import { QualityTracker } from '../../../../lib/resolve/quality/quality-tracker.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { memoryDocuments, NOW } from '../fixtures.ts'

const DAY = 86_400_000
const API = apiId('ticker', peerId('P'))
const OWNER = peerId('A')

describe('quality by own calls', () => {
  let clock: ReturnType<typeof manualClock>
  let documents: ReturnType<typeof memoryDocuments>
  let grades: Map<string, Grade>
  let book: QualityTracker

  const open = async (): Promise<QualityTracker> => {
    const index = {
      grade: async (given: ReadonlyArray<Grade & { readonly id: string }>) => {
        for (const { id, ...grade } of given) grades.set(id, grade)
      }
    }
    const opened = new QualityTracker({ documents, index, clock })
    await opened.start()
    return opened
  }
  const observe = (calls: number, isGood: boolean, ms = 50, owner = OWNER) => {
    for (let i = 0; i < calls; i++) book.observe(API, owner, isGood ? { isGood, ms } : { isGood })
  }

  beforeEach(async () => {
    clock = manualClock(NOW)
    documents = memoryDocuments()
    grades = new Map()
    book = await open()
  })

  it('is the prior for an API that was never called', () => {
    assert.deepEqual(book.of(API), { score: 0.8, calls: 0 })
    assert.deepEqual(book.gradeOf(API), { quality: 0.8 })
  })

  it('shrinks small samples: one failed call changes little, a hundred change much', () => {
    observe(1, false)
    const after1 = book.of(API)
    assert.ok(after1.score > 0.7 && after1.score < 0.8)
    assert.equal(after1.successRate, 0)
    observe(99, false)
    assert.ok(book.of(API).score < 0.1)
  })

  it('ranks few successful calls above none, and many above few', () => {
    observe(2, true)
    const few = book.of(API).score
    observe(200, true)
    assert.ok(few > 0.8 && few < book.of(API).score && book.of(API).score < 1)
  })

  it('has percentiles of successful calls, accurate to 10%', () => {
    for (let ms = 1; ms <= 1_000; ms++) observe(1, true, ms)
    const { p50Ms = 0, p95Ms = 0 } = book.of(API)
    assert.ok(Math.abs(p50Ms / 500 - 1) < 0.11, String(p50Ms))
    assert.ok(Math.abs(p95Ms / 950 - 1) < 0.11, String(p95Ms))
    observe(100, false)
    assert.equal(book.of(API).p95Ms, p95Ms)
  })

  it('ranks by a latency that few calls change little', () => {
    observe(1, true, 10)
    const once = book.gradeOf(API).latencyMs ?? 0
    observe(500, true, 10)
    const often = book.gradeOf(API).latencyMs ?? 0
    assert.ok(once > 100 && often < 12, `${once} ${often}`)
  })

  it('decays: a bad day is almost forgotten after a month', async () => {
    observe(50, false)
    await clock.advance(28 * DAY)
    const { calls, successRate } = book.of(API)
    assert.ok(calls > 3 && calls < 3.3, String(calls))
    assert.equal(successRate, 0)
    observe(50, true)
    assert.ok(book.of(API).score > 0.85)
  })

  it('shows a change within a thousand calls, however many there were', () => {
    observe(20_000, true)
    observe(1_000, false)
    const { successRate = 1, calls } = book.of(API)
    assert.ok(successRate < 0.5, String(successRate))
    assert.ok(calls <= 1_000)
  })

  it('sums a limited number of owners', async () => {
    for (let i = 0; i < SERVERS_MAX + 4; i++) observe(1, i % 2 === 0, 50, `owner ${i}`)
    assert.equal(Math.round(book.of(API).calls), SERVERS_MAX)
    assert.equal(Math.round((book.of(API).successRate ?? 0) * 10), 5)
  })

  it('is written asynchronously, with the index, and survives a restart', async () => {
    observe(9, true, 50)
    observe(1, false)
    assert.deepEqual(documents.writes, [])
    await clock.advance(QUALITY_WRITE_MS)
    await settle()
    assert.deepEqual(documents.writes, [`quality/${API}`])
    assert.deepEqual(grades.get(API), book.gradeOf(API))
    const before = book.of(API)
    book = await open()
    assert.ok(Math.abs((book.of(API).successRate ?? 0) - (before.successRate ?? 0)) < 0.01)
    assert.equal(book.of(API).p50Ms, before.p50Ms)
    observe(1, true)
    await book.stop()
    assert.equal(documents.writes.length, 2)
    assert.equal(clock.pending, 0)
  })

  it('evicts the API not called for longest, also from disk', async () => {
    book.observe(API, OWNER, { isGood: true })
    await book.stop()
    for (let i = 0; i < QUALITY_APIS_MAX; i++) book.observe(apiId(`api-${i}`, peerId('P')), OWNER, { isGood: true })
    await settle()
    assert.equal(await documents.get('quality', API), undefined)
    assert.equal(book.of(API).calls, 0)
    await book.stop()
  })
})
