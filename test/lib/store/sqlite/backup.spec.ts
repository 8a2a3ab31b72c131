import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../../../lib/interface/store.ts'
import { backUp } from '../../../../lib/store/sqlite/backup.ts'
import { createSqliteStore } from '../../../../lib/store/sqlite/store.ts'
import { callRecord } from '../../../helpers/call-record.ts'

describe('a backup of the SQLite store', () => {
  let directory: string
  let store: Store
  const target = () => join(directory, 'copy.db')

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'souk-backup-'))
    store = createSqliteStore({ path: join(directory, 'souk.db') })
    await store.open()
  })
  afterEach(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })

  async function counted(path: string): Promise<{ usage: number; calls: number; entries: bigint }> {
    const copy = createSqliteStore({ path })
    await copy.open()
    try {
      const [usage] = await copy.calls.usage()
      const calls = await copy.calls.recent({ limit: 100_000 })
      return { usage: usage?.captured ?? 0, calls: calls.length, entries: await copy.ledger.balance('earned') }
    } finally {
      await copy.close()
    }
  }
  /** Each call is booked, so that its record and its entry exist together or not at all. */
  const append = () =>
    store.calls.append(callRecord(), {
      postings: [
        { account: 'earned', amount: 1n },
        { account: 'payer', amount: -1n }
      ]
    })

  it('waits for a transaction that runs when it begins', async () => {
    const db = new DatabaseSync(join(directory, 'other.db'))
    db.exec('CREATE TABLE rows (id); BEGIN IMMEDIATE; INSERT INTO rows VALUES (1)')
    const written = backUp(db, target())
    await pause(5)
    db.exec('COMMIT')
    await written
    db.close()
    const copy = new DatabaseSync(target())
    assert.deepEqual({ ...copy.prepare('SELECT count(*) AS rows FROM rows').get() }, { rows: 1 })
    copy.close()
  })

  it('is one consistent state of the books, taken during writes', async () => {
    for (let batch = 0; batch < 20; batch++) await Promise.all(Array.from({ length: 100 }, append))
    const copied = store.backUp(target()).then(() => 'copied')
    let during = 0
    let state = ''
    do {
      during += 3
      const appended = Promise.all([append(), append(), append()])
      state = await Promise.race([copied, appended.then(() => 'appended')])
      await appended
    } while (state !== 'copied')
    await append()
    const { usage, calls, entries } = await counted(target())
    assert.ok(during > 0)
    assert.ok(calls >= 2_000 && calls <= 2_000 + during, `${calls} calls, ${during} meanwhile`)
    assert.deepEqual([usage, entries], [calls, BigInt(calls)])
    // The store itself has lost nothing.
    assert.equal((await store.calls.recent({ limit: 100_000 })).length, 2_000 + during + 1)
    assert.equal((statSync(target()).mode & 0o777).toString(8), '600')
  })

  it('finishes before the store is closed', async () => {
    for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 100 }, append))
    const copied = store.backUp(target())
    await store.close()
    await copied
    assert.equal((await counted(target())).calls, 1_000)
  })

  it('overwrites nothing, and leaves no file behind if it fails', async () => {
    writeFileSync(target(), 'mine')
    await assert.rejects(store.backUp(target()), { code: 'invalid_request' })
    assert.equal(statSync(target()).size, 4)
    await assert.rejects(store.backUp(join(directory, 'missing', 'copy.db')), { code: 'internal_error' })
    await append()
  })

  it('fails for a closed store', async () => {
    await store.close()
    await assert.rejects(store.backUp(target()), { code: 'internal_error' })
  })
})
