import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSqliteStore } from '../../../lib/store/sqlite/store.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'
import { fillStore, LARGE_API, LARGE_STEP_MS, largePeer } from '../../helpers/large-store.ts'

const ROWS = 100_000
const NOW = Date.UTC(2026, 5, 1)
/** Tables that may be scanned: they contain open items, or one row per API or peer, and do not grow with time. */
const SMALL = new Set(['sums', 'usage', 'stored_bytes', 'trims', 'listing_feed', 'staged_calls'])
/** A full scan of a table. `CONSTANT ROW`, JSON and subqueries are not tables. */
const SCAN = /^SCAN (?!CONSTANT ROW|json_each|SUBQUERY|\(subquery)(?:TABLE )?(\w+)(?<rest>.*)$/
/** A scan in the order of an index or the row id that a LIMIT ends: the oldest rows, or the newest. */
const ORDERED = /LIMIT/i

describe('the statements of the SQLite store', () => {
  let directory: string
  let path: string

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'souk-plans-'))
    path = join(directory, 'souk.db')
    await fillStore(path, ROWS, NOW)
  })
  after(() => rmSync(directory, { recursive: true }))

  it('never scan a growing table', async () => {
    const statements = await prepared(path)
    assert.ok(statements.size > 60, `saw ${statements.size} statements`)
    using db = new DatabaseSync(path)
    const walks: string[] = []
    for (const sql of statements) {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      for (const step of steps) {
        const detail = String(step['detail'])
        const table = SCAN.exec(detail)?.[1]
        if (table === undefined || SMALL.has(table)) continue
        const isBounded = ORDERED.test(sql) && !steps.some((other) => String(other['detail']).includes('TEMP B-TREE'))
        if (!isBounded && !LISTING.test(sql)) walks.push(`${detail}\n  ${sql.trim()}`)
      }
    }
    assert.deepEqual(walks, [])
  })

  it('open and trim a store of a hundred thousand calls without reading all of it', async () => {
    await assertCpuBelow(250, async () => {
      const store = createSqliteStore({ path })
      await store.open()
      assert.equal(await store.ledger.balance('earned/1'), BigInt(-100 * (ROWS / 100)))
      await store.close()
    })
  })

  it('delete its old rows without changing a sum', async () => {
    const store = createSqliteStore({ path })
    await store.open()
    const sums = async () => [await store.ledger.balances(''), await store.calls.usage()]
    const before = await sums()
    const cutoff = NOW - (ROWS - 2_000) * LARGE_STEP_MS
    const rules = { before: cutoff, freeBefore: cutoff, now: NOW, kinds: [], isDue: () => true, limit: 256 }
    let deleted = 0
    for (let isOver = false; !isOver; ) {
      const slice = await store.retention.trim(rules)
      deleted += slice.calls
      isOver = slice.isOver
    }
    assert.ok(Math.abs(deleted - 2_000) <= 1, `${deleted} deleted`)
    assert.deepEqual(await sums(), before)
    assert.equal((await store.calls.recent({ api: LARGE_API, limit: 1 })).length, 1)
    const carried = await store.ledger.carried('')
    assert.equal(carried.find(({ account }) => account === 'earned/1')?.amount, -100n * BigInt(2_000 / 100))
    assert.equal(await store.calls.find(largePeer(1), new Uint8Array(16)), undefined)
    await store.close()
  })
})

/** The catalogue is limited by `CATALOGUE_MAX` and by limits of its operations. Some searches scan it, and word indexes always do. */
const LISTING = /listing|operation_words/

/** All statements that the store prepares when it is opened. */
async function prepared(path: string): Promise<Set<string>> {
  const statements = new Set<string>()
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (sql: string) {
    statements.add(sql)
    return prepare.call(this, sql)
  }
  try {
    const store = createSqliteStore({ path })
    await store.open()
    await store.close()
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
  return new Set([...statements].filter((sql) => /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(sql)))
}
