import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PAYMENT_REPLAY_MS } from '../../../../lib/base/limits/pay.ts'
import { SUMS_BEHIND_MAX } from '../../../../lib/base/limits/store.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { SELECT_LOGGED, SELECT_RECORDS } from '../../../../lib/store/call-select.ts'
import { systemClock } from '../../../../lib/base/clock.ts'
import { createSqliteStore } from '../../../../lib/store/sqlite/store.ts'
import { callRecord, peerId, storedResponse } from '../../../helpers/call-record.ts'
import { storeSuite } from '../../../suites/store.ts'
import { SUITE_STORED_BYTES } from '../../../suites/store-retention.ts'

storeSuite('the SQLite store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'souk-store-'))
  const path = join(directory, 'souk.db')
  return {
    store: createSqliteStore({ path, storedBytesMax: SUITE_STORED_BYTES }),
    again: () => createSqliteStore({ path, storedBytesMax: SUITE_STORED_BYTES }),
    dispose: () => rmSync(directory, { recursive: true })
  }
})

/** Tables of the newest versions. */
const NEWEST = ['listing_descriptions', 'listing_operations', 'operation_words', 'staged_calls']

describe('the SQLite store', () => {
  let directory: string
  let path: string
  const opened: Store[] = []

  const open = async (init: Partial<Parameters<typeof createSqliteStore>[0]> = {}): Promise<Store> => {
    const store = createSqliteStore({ path, ...init })
    opened.push(store)
    await store.open()
    return store
  }
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)
  /** Reads the file like another program. */
  const inspect = <T>(look: (db: DatabaseSync) => T): T => {
    using db = new DatabaseSync(path)
    return look(db)
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'souk-store-'))
    path = join(directory, 'profile', 'souk.db')
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    rmSync(directory, { recursive: true })
  })

  it('makes its files unreadable for other users', async () => {
    const store = await open()
    await store.calls.append(callRecord())
    assert.equal(modeOf(join(directory, 'profile')), '700')
    for (const file of readdirSync(join(directory, 'profile'))) {
      assert.equal(modeOf(join(directory, 'profile', file)), '600', file)
    }
    assert.ok(existsSync(`${path}-wal`))
  })

  it('shows no commit before it is on disk', async () => {
    const turns: Array<() => void> = []
    const store = await open({ clock: { ...systemClock, soon: (task) => void turns.push(task) } })
    const told: string[] = []
    const [first, second] = [callRecord(), callRecord()]
    const writes = [first, second].map((record) => store.calls.append(record).then(() => told.push('written')))
    await Promise.resolve()
    for (const task of turns.splice(0)) task()
    // The commit is done, so this connection sees it.
    const found = store.calls.find(first.peer, first.requestId).then((record) => {
      told.push('found')
      return record
    })
    assert.equal((await found)?.status, first.status)
    await Promise.all(writes)
    assert.deepEqual(told, ['written', 'written', 'found'])
  })

  it('restricts a file that others could read', async () => {
    await (await open()).close()
    chmodSync(path, 0o644)
    await open()
    assert.equal(modeOf(path), '600')
  })

  it('leaves only one file when it is closed', async () => {
    const store = await open()
    await store.calls.append(callRecord())
    await store.close()
    assert.deepEqual(readdirSync(join(directory, 'profile')), ['souk.db'])
  })

  it('is opened by one process at a time, and rejects another without harm to the first', async () => {
    const store = await open()
    for (let i = 0; i < 2; i++) {
      await assert.rejects(open(), {
        code: 'internal_error',
        message: 'The store cannot be opened: another process uses it.'
      })
    }
    await store.calls.append(callRecord())
    await store.close()
    const later = await open()
    assert.equal((await later.calls.recent({ limit: 10 })).length, 1)
  })

  it('rejects a file that is not a database, and leaves it unchanged', async () => {
    await (await open()).close()
    const text = 'not a database, but precious '.repeat(100)
    writeFileSync(path, text)
    await assert.rejects(open(), ({ code, message, cause }: Error & { code: string }) => {
      assert.equal(code, 'internal_error')
      assert.equal(message, 'The store cannot be opened.')
      assert.ok(cause instanceof Error)
      return true
    })
    assert.equal(statSync(path).size, text.length)
  })

  it('rejects a file of a newer version', async () => {
    await (await open()).close()
    inspect((db) => db.exec('PRAGMA user_version = 1000'))
    await assert.rejects(open(), { code: 'internal_error', message: /newer version/ })
  })

  it('cannot be opened if its directory cannot be created', async () => {
    writeFileSync(join(directory, 'profile'), '')
    await assert.rejects(open(), { code: 'internal_error', message: 'The store cannot be opened.' })
  })

  if (process.platform === 'linux') {
    it('cannot be opened where the file system takes no directory, and does not try for ever', async () => {
      await assert.rejects(open({ path: '/proc/souk/souk.db' }), { code: 'internal_error' })
    })
  }

  it('has the documented schema version, durability and references', async () => {
    const store = await open()
    await store.calls.append(callRecord({ response: storedResponse() }))
    await store.close()
    inspect((db) => {
      assert.deepEqual({ ...db.prepare('PRAGMA user_version').get() }, { user_version: 9 })
      assert.deepEqual({ ...db.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' })
      assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), [])
      assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
    })
  })

  it('migrates a file of the first version without loss', async () => {
    const first = await open()
    const record = callRecord({ response: storedResponse() })
    await first.calls.append(record)
    await first.close()
    const listings = ['listings', 'listing_bodies', 'listing_tags', 'listing_feed', 'listing_words', ...NEWEST]
    const later = ['trims', 'carried', 'stored_bytes', 'postings', 'entries', 'accounts', 'sums', 'claims', ...listings]
      .map((table) => `DROP TABLE ${table};`)
      .join(' ')
    inspect((db) =>
      db.exec(`${later} ALTER TABLE calls DROP COLUMN rule;
      DROP INDEX documents_by_end; ALTER TABLE documents DROP COLUMN expires_at; ALTER TABLE responses DROP COLUMN is_held;
      PRAGMA user_version = 1`)
    )
    const store = await open()
    assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
    const postings = [
      { account: 'a', amount: 1n },
      { account: 'b', amount: -1n }
    ]
    await store.calls.append(callRecord(), { postings })
    assert.equal(await store.ledger.balance('a'), 1n)
    await store.close()
  })

  it('migrates a file from before deletion: finished items are moved, expiring ones get an expiry', async () => {
    const first = await open()
    const record = callRecord({ response: storedResponse('x'.repeat(100)) })
    await first.calls.append(record)
    const put = (collection: string, key: string, value: unknown) =>
      first.documents.put(collection, key, JSON.stringify(value))
    for (const state of ['pending', 'credited', 'refused']) await put('account-deposits', state, { state })
    for (const state of ['pending', 'sent', 'done', 'failed']) await put('account-withdrawals', state, { state })
    for (const kind of ['owed', 'paid', 'lost']) await put('x402-exact', kind, { fate: { kind } })
    await put('x402-answers', 'a', { at: 1 })
    await put('other', 'a', { state: 'done' })
    await first.documents.put('other', 'b', 'no JSON')
    await first.close()
    inspect((db) =>
      db.exec(`${NEWEST.map((table) => `DROP TABLE ${table};`).join(' ')} DROP TABLE trims; DROP TABLE carried; DROP TABLE stored_bytes; DROP INDEX entries_by_call;
        DELETE FROM sums WHERE name = 'staged'; DROP INDEX entries_by_kind; DROP INDEX documents_by_end; ALTER TABLE documents DROP COLUMN expires_at;
        ALTER TABLE responses DROP COLUMN is_held; PRAGMA user_version = 6`)
    )
    const store = await open()
    const keys = async (collection: string) => (await store.documents.list(collection)).map(({ key }) => key)
    assert.deepEqual(await keys('account-deposits'), ['pending'])
    assert.deepEqual(await keys('account-deposits-ended'), ['credited', 'refused'])
    assert.deepEqual(await keys('account-withdrawals'), ['pending', 'sent'])
    assert.deepEqual(await keys('account-withdrawals-ended'), ['done', 'failed'])
    assert.deepEqual(await keys('other'), ['a', 'b'])
    assert.equal(await store.documents.sweep(Date.now(), 10), 0)
    assert.equal(await store.documents.sweep(Date.now() + 2 * PAYMENT_REPLAY_MS, 10), 3)
    assert.deepEqual(await keys('x402-exact'), ['owed'])
    assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
    await store.close()
    inspect((db) => assert.deepEqual({ ...db.prepare('SELECT bytes FROM stored_bytes').get() }, { bytes: 100 }))
  })

  it('writes its sums now and then, and has complete sums after a restart at any time', async () => {
    const postings = [
      { account: 'a', amount: 2n },
      { account: 'b', amount: -2n }
    ]
    const longer = [
      { account: 'a', amount: 3n },
      { account: 'b', amount: -1n },
      { account: 'c', amount: -2n }
    ]
    const [{ api }] = [callRecord()]
    let [calls, sum] = [0, 0n]
    for (const batch of [1, SUMS_BEHIND_MAX / 2, 10, SUMS_BEHIND_MAX]) {
      const store = await open()
      const appends = Array.from({ length: batch }, () => store.calls.append(callRecord({ price: 1n }), { postings }))
      await Promise.all(appends)
      await store.ledger.book({ kind: 'test', reference: String(batch), at: 1, postings: longer })
      calls += batch
      sum += 2n * BigInt(batch) + 3n
      for (const again of [store, undefined]) {
        const read = again ?? (await open())
        const [usage, ...others] = await read.calls.usage()
        assert.deepEqual(others, [])
        assert.deepEqual([usage?.api, usage?.captured, usage?.metered], [api, calls, BigInt(calls)])
        assert.equal(await read.ledger.balance('a'), sum)
        const balances = await read.ledger.balances('')
        assert.deepEqual(
          balances.map(({ account }) => account),
          ['a', 'b', 'c']
        )
        assert.equal(
          balances.reduce((all, { amount }) => all + amount, 0n),
          0n
        )
        await read.close()
      }
    }
    inspect((db) => {
      const behind = db.prepare(
        `SELECT (SELECT max(seq) FROM calls) - (SELECT through FROM sums WHERE name = 'usage') AS calls,
          (SELECT max(seq) FROM entries) - (SELECT through FROM sums WHERE name = 'accounts') AS entries`
      )
      const { calls, entries } = behind.get() ?? {}
      assert.ok(Number(calls) < SUMS_BEHIND_MAX && Number(entries) < SUMS_BEHIND_MAX)
    })
  })

  it('stores amounts as integers that other programs can sum', async () => {
    const store = await open()
    await store.calls.append(callRecord({ price: 10n ** 15n - 1n }))
    await store.close()
    inspect((db) => {
      const row = db.prepare('SELECT price, typeof(price) AS type FROM calls').get()
      assert.deepEqual({ ...row }, { price: 10 ** 15 - 1, type: 'integer' })
    })
  })

  it('finds and lists calls by an index, never by a scan', async () => {
    await (await open()).close()
    inspect((db) => {
      for (const [select, way] of [
        [
          `${SELECT_RECORDS} WHERE c.peer = (SELECT id FROM names WHERE name = ?) AND c.request_id = ?`,
          /SEARCH c USING INDEX/
        ],
        [`${SELECT_LOGGED} WHERE c.seq < ? ORDER BY c.seq DESC LIMIT ?`, /SEARCH c USING INTEGER PRIMARY KEY/],
        [
          `${SELECT_LOGGED} WHERE c.api = (SELECT id FROM names WHERE name = ?) AND c.seq < ? ORDER BY c.seq DESC LIMIT ?`,
          /SEARCH c USING INDEX calls_by_api \(api=\? AND seq<\?\)/
        ],
        [
          'SELECT key, value FROM documents WHERE collection = ? AND key < ? ORDER BY key DESC LIMIT ?',
          /SEARCH documents USING .*\(collection=\? AND key<\?\)/
        ]
      ] as const) {
        const plan = db.prepare(`EXPLAIN QUERY PLAN ${select}`).all()
        const steps = plan.map((step) => String(step['detail'])).join('; ')
        assert.doesNotMatch(steps, /TEMP B-TREE|SCAN/, steps)
        assert.match(steps, way, steps)
      }
    })
  })

  it('rejects a slice of dropResponses, and an append after it, that come too late', async () => {
    const failures: Error[] = []
    const store = await open({ onFailure: (error) => failures.push(error) })
    const records = Array.from({ length: 1_000 }, () => callRecord({ at: 1, response: storedResponse() }))
    await Promise.all(records.map((record) => store.calls.append(record)))
    const dropping = store.calls.dropResponses(2)
    await Promise.all([store.close(), assert.rejects(dropping, { code: 'internal_error' })])
    assert.deepEqual(failures, [])
    const later = await open()
    assert.equal((await later.calls.recent({ limit: 2_000 })).length, records.length)
  })

  it('caches names only as far as they were written', async () => {
    const store = await open()
    // A document that cannot be bound fails the whole first attempt of this commit, including new names of peers.
    const unbindable = { toString: () => 'x' } as unknown as string
    const results = await Promise.allSettled([
      store.calls.append(callRecord({ peer: peerId('N'), api: `new@${peerId('P')}` })),
      store.documents.put('a', 'b', unbindable),
      store.calls.append(callRecord({ peer: peerId('N'), api: `new@${peerId('P')}` }))
    ])
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled']
    )
    await store.calls.append(callRecord({ peer: peerId('N'), api: `new@${peerId('P')}` }))
    assert.equal((await store.calls.usage())[0]?.captured, 3)
    assert.equal((await store.calls.recent({ api: `new@${peerId('P')}`, limit: 10 })).length, 3)
  })

  it('stores nothing of a record whose response cannot be written, and all other records', async () => {
    const store = await open()
    const names = { peer: peerId('N'), api: `new@${peerId('P')}` } as const
    const unbindable = { length: 1 } as Uint8Array
    const bad = callRecord({ ...names, response: { ...storedResponse(), body: unbindable } })
    const good = [callRecord(names), callRecord({ ...names, response: storedResponse() })]
    const results = await Promise.allSettled([bad, ...good].map((record) => store.calls.append(record)))
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'fulfilled', 'fulfilled']
    )
    assert.equal(await store.calls.find(bad.peer, bad.requestId), undefined)
    assert.equal((await store.calls.recent({ limit: 10 })).length, good.length)
    for (const record of good) assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
    assert.equal((await store.calls.usage())[0]?.captured, 2)
  })
})
