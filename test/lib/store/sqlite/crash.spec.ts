import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Store } from '../../../../lib/interface/store.ts'
import { storeFaultOf } from '../../../../lib/store/sqlite/errors.ts'
import { createSqliteStore } from '../../../../lib/store/sqlite/store.ts'
import type { Report } from '../../../helpers/append-until-full.ts'
import { callRecord } from '../../../helpers/call-record.ts'
import { eventually } from '../../../helpers/eventually.ts'

const appendUntilKilledFile = fileURLToPath(new URL('../../../helpers/append-until-killed.ts', import.meta.url))
const appendUntilFullFile = fileURLToPath(new URL('../../../helpers/append-until-full.ts', import.meta.url))
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 5)
const RECORDS_BEFORE_KILL_MAX = 2_000
/** The unit of `ulimit -f` is 512 bytes (POSIX). */
const FILE_BLOCKS_MAX = 2_048

describe('the SQLite store under faults', () => {
  let directory: string
  let path: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'souk-crash-'))
    path = join(directory, 'souk.db')
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('has every record whose promise resolved, after kill -9 at any moment', async () => {
    const promised: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      promised.push(...(await appendUntilKilled(path, Math.ceil(Math.random() * RECORDS_BEFORE_KILL_MAX))))
      const store = createSqliteStore({ path })
      await store.open()
      for (const id of promised) {
        const record = await store.calls.find(callRecord().peer, Buffer.from(id.replaceAll('-', ''), 'hex'))
        assert.ok(record?.response, `${id} was promised and is gone`)
      }
      // The sums always match the records.
      const [usage] = await store.calls.usage()
      const records = await store.calls.recent({ limit: Number.MAX_SAFE_INTEGER })
      assert.ok(records.length >= promised.length)
      assert.equal(usage?.captured, records.length)
      assert.deepEqual(await store.ledger.balances(''), [
        { account: 'earned', amount: BigInt(-records.length) },
        { account: 'owed', amount: BigInt(records.length) }
      ])
      await store.close()
    }
  })

  it('rejects all waiting writes, calls onFailure once and rejects later operations when a commit fails', async function () {
    // This platform has no such limit.
    if (process.platform === 'win32') this.skip()
    const limited = `ulimit -f ${FILE_BLOCKS_MAX} && exec "$0" "$@"`
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, appendUntilFullFile, path])
    const report = JSON.parse(stdout) as Report
    assert.ok(report.rounds > 0, 'some commits went well before')
    assert.deepEqual(report.waiting, ['internal_error', 'internal_error', 'internal_error'])
    assert.deepEqual(new Set(report.later), new Set(['internal_error']))
    assert.equal(report.failures, 1)

    // Earlier durable data is available to the next process.
    const store = createSqliteStore({ path })
    await store.open()
    assert.ok((await store.documents.list('large')).length >= report.rounds)
    assert.ok((await store.calls.usage())[0]!.captured >= report.rounds * 2)
    await store.close()
  })

  it('rejects new work, and finishes pending work, while free space is below the minimum', async () => {
    const free = () => {
      const { bavail, bsize } = statfsSync(directory)
      return bavail * bsize
    }
    const filler = join(directory, 'filler')
    const bytes = 64 * 2 ** 20
    const store = createSqliteStore({ path, freeBytesMin: free() - bytes / 2 })
    await store.open()
    assert.equal(store.refusal?.(), undefined)
    writeFileSync(filler, Buffer.alloc(bytes, 1), { flush: true })
    const refusal = await eventually('the floor to be noticed', 5_000, () => store.refusal?.())
    assert.equal(refusal.code, 'storage_full')
    assert.ok(refusal.retryable && (refusal.retryAfterMs ?? 0) > 0)
    await store.calls.append(callRecord())
    rmSync(filler)
    await eventually('the room to be noticed', 5_000, () => store.refusal?.() === undefined || undefined)
    await store.close()
  })

  it('stops at a damaged page, on reads and on writes', async () => {
    const store = createSqliteStore({ path })
    await store.open()
    for (let i = 0; i < 500; i++) await store.documents.put('things', String(i), JSON.stringify('x'.repeat(500)))
    await store.close()
    const content = readFileSync(path)
    // The rows of `things`, and nothing that is read at the start.
    for (let page = 0; page < content.length; page += 4_096) {
      const row = content.indexOf('x'.repeat(100), page)
      if (row >= page && row < page + 4_096) content.fill(0xff, page, page + 4_096)
    }
    writeFileSync(path, content)
    const uses = [
      (used: Store) => used.documents.list('things'),
      (used: Store) =>
        Promise.all(
          Array.from({ length: 500 }, (_, i) => used.documents.put('things', String(i), JSON.stringify('new')))
        )
    ]
    for (const use of uses) {
      const failures: Error[] = []
      const damaged = createSqliteStore({ path, onFailure: (error) => failures.push(error) })
      await damaged.open()
      await assert.rejects(use(damaged), { code: 'internal_error' })
      assert.deepEqual(failures.map(storeFaultOf), ['damaged'])
      await assert.rejects(damaged.documents.get('things', '0'), { code: 'internal_error' })
      await damaged.close()
    }
  })
})

/** The acknowledged ids, of complete lines only, because the last line may be truncated. */
async function appendUntilKilled(path: string, afterRecords: number): Promise<string[]> {
  const child = spawn(process.execPath, [appendUntilKilledFile, path], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exit = once(child, 'exit')
  const ids: string[] = []
  for await (const line of createInterface(child.stdout)) {
    ids.push(line)
    if (ids.length === afterRecords) child.kill('SIGKILL')
  }
  const [, signal] = (await exit) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
  return ids.filter((id) => id.length === 36)
}
