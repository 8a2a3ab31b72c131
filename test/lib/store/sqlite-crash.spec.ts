import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSqliteStore } from '../../../lib/store/sqlite-store.ts'
import type { Report } from '../../helpers/append-until-full.ts'
import { callRecord } from '../../helpers/call-record.ts'

const appendUntilKilledFile = fileURLToPath(new URL('../../helpers/append-until-killed.ts', import.meta.url))
const appendUntilFullFile = fileURLToPath(new URL('../../helpers/append-until-full.ts', import.meta.url))
const ROUNDS = 5
const RECORDS_BEFORE_KILL_MAX = 2_000
/** Of `ulimit -f`, in the 512 bytes that POSIX counts in. */
const FILE_BLOCKS_MAX = 2_048

describe('the SQLite store when things go wrong', () => {
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
      // The sums moved with the records, whatever the moment.
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

  it('tells everybody who waits, calls onFailure once and refuses all further work when a commit fails', async function () {
    // No such limit there.
    if (process.platform === 'win32') this.skip()
    const limited = `ulimit -f ${FILE_BLOCKS_MAX} && exec "$0" "$@"`
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, appendUntilFullFile, path])
    const report = JSON.parse(stdout) as Report
    assert.ok(report.rounds > 0, 'some commits went well before')
    assert.deepEqual(report.waiting, ['internal_error', 'internal_error', 'internal_error'])
    assert.deepEqual(new Set(report.later), new Set(['internal_error']))
    assert.equal(report.failures, 1)

    // What was durable before is still there for the next process.
    const store = createSqliteStore({ path })
    await store.open()
    assert.ok((await store.documents.list('large')).length >= report.rounds)
    assert.ok((await store.calls.usage())[0]!.captured >= report.rounds * 2)
    await store.close()
  })
})

/** The ids it promised, of whole lines only: the last may be cut. */
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
