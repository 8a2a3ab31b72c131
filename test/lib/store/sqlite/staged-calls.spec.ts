import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { STAGED_BODY_BYTES_MAX, STAGED_CALLS_MAX, STAGED_SLOTS } from '../../../../lib/base/limits/store.ts'
import { formatRequestId } from '../../../../lib/base/request-id.ts'
import type { CallRecord, Store } from '../../../../lib/interface/store.ts'
import { createSqliteStore } from '../../../../lib/store/sqlite/store.ts'
import { callRecord, storedResponse } from '../../../helpers/call-record.ts'

const POSTINGS = [
  { account: 'owed', amount: 1n },
  { account: 'earned', amount: -1n }
]

describe('staged calls', () => {
  let directory: string
  let store: Store

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'souk-staged-'))
    store = await opened('souk.db')
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })

  const opened = async (file: string): Promise<Store> => {
    const made = createSqliteStore({ path: join(directory, file) })
    await made.open()
    return made
  }
  /** The store as a killed process leaves it. */
  const killed = async (): Promise<Store> => {
    for (const end of ['', '-wal']) cpSync(join(directory, `souk.db${end}`), join(directory, `killed.db${end}`))
    return opened('killed.db')
  }
  const inspect = (file: string, sql: string) => {
    using db = new DatabaseSync(join(directory, file))
    return db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  }
  const append = (records: readonly CallRecord[]) =>
    Promise.all(records.map((record) => store.calls.append(record, { postings: POSTINGS })))
  const records = (count: number): CallRecord[] =>
    Array.from({ length: count }, () => callRecord({ response: storedResponse() }))
  const responses = () => inspect('killed.db', 'SELECT seq FROM responses')

  it('survive a kill, with their responses, entries and sums', async () => {
    const all = records(3)
    await append(all)
    const again = await killed()
    for (const { peer, requestId } of all) assert.ok((await again.calls.find(peer, requestId))?.response)
    assert.equal((await again.calls.usage())[0]?.captured, 3)
    assert.equal(await again.ledger.balance('earned'), -3n)
    assert.deepEqual(await again.ledger.entries({ limit: 9 }), await store.ledger.entries({ limit: 9 }))
    await again.close()
    assert.equal(responses().length, 3)
    const [sum] = inspect(
      'killed.db',
      'SELECT bytes - (SELECT sum(length(body)) FROM responses) AS missing FROM stored_bytes'
    )
    assert.equal(sum?.['missing'], 0)
  })

  it('are more than the ring has slots, at once and in turn', async () => {
    const all = records(STAGED_SLOTS + 2 * STAGED_CALLS_MAX)
    const atOnce = STAGED_SLOTS + 5
    await append(all.slice(0, atOnce))
    for (let from = atOnce; from < all.length; from += 100) await append(all.slice(from, from + 100))
    const again = await killed()
    const found = await again.calls.recent({ limit: all.length + 1 })
    assert.deepEqual(
      found.map(({ requestId }) => formatRequestId(requestId)).toReversed(),
      all.map(({ requestId }) => formatRequestId(requestId))
    )
    assert.equal((await again.calls.usage())[0]?.captured, all.length)
    assert.equal(await again.ledger.balance('owed'), BigInt(all.length))
    await again.close()
  })

  it('are recorded once', async () => {
    const [record] = records(1)
    await append([record!])
    await assert.rejects(append([record!]), { code: 'idempotency_in_flight' })
    await store.calls.recent({ limit: 1 })
    await assert.rejects(append([record!]), { code: 'idempotency_in_flight' })
    assert.equal((await store.calls.usage())[0]?.captured, 1)
  })

  it('write no response that was acknowledged before they move', async () => {
    const all = records(4)
    await append(all)
    const [first, ...others] = all
    store.calls.acknowledge(
      first!.peer,
      others.map(({ requestId }) => requestId)
    )
    await store.documents.put('any', 'write', '1')
    assert.equal((await store.calls.find(first!.peer, others[0]!.requestId))?.response, undefined)
    assert.ok((await store.calls.find(first!.peer, first!.requestId))?.response)
    await store.calls.recent({ limit: 1 })
    const again = await killed()
    await again.close()
    assert.equal(responses().length, 1)
  })

  it('keep their place among other entries', async () => {
    const book = (reference: string) => store.ledger.book({ kind: 'deposit', reference, at: 1, postings: POSTINGS })
    const large = callRecord({ response: { ...storedResponse(), body: new Uint8Array(STAGED_BODY_BYTES_MAX + 1) } })
    await append(records(1))
    await book('a')
    await append([large])
    await append(records(1))
    await book('b')
    const entries = await store.ledger.entries({ limit: 9 })
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['call', 'deposit', 'call', 'call', 'deposit']
    )
    assert.equal(entries[2]?.reference, formatRequestId(large.requestId))
  })

  it('take fewer than four writes of a commit', async function () {
    // Other platforms do not count system calls.
    if (process.platform !== 'linux') this.skip()
    // Counts the writes of this thread, which makes all of the store's. Other threads of the process write too.
    const writes = () => Number(/syscw: (\d+)/.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1])
    // Fill the ring once: later calls overwrite its rows.
    await append(records(STAGED_SLOTS))
    const before = writes()
    const COUNT = 100
    for (const record of records(COUNT)) await append([record])
    const each = (writes() - before) / COUNT
    assert.ok(each < 4, `${each} writes each`)
  })
})
