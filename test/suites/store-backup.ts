import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../lib/interface/store.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { callRecord, storedResponse } from '../helpers/call-record.ts'

/** @param tool - the tool that `backUp` names in its error, for a store that it cannot copy */
export function backupCases(current: () => Store, tool: () => string | undefined): void {
  let directory: string
  const target = (): string => join(directory, 'copy.db')

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'souk-backup-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('makes a file that holds the whole store, or names the tool that does', async () => {
    const record = callRecord({ price: 3n, charged: 3n, response: storedResponse() })
    const postings = [
      { account: 'owed', amount: 3n },
      { account: 'earned', amount: -3n }
    ]
    await current().calls.append(record, { postings })
    await current().documents.put('pins', 'a', '1')
    const named = tool()
    if (named !== undefined) {
      const refusal = { code: 'backup_not_supported', message: new RegExp(named) }
      await assert.rejects(current().backUp(target()), refusal)
      assert.equal(existsSync(target()), false)
      return
    }
    await current().backUp(target())
    // Written after the backup, so the copy must not contain it.
    await current().documents.put('pins', 'a', '2')
    assert.equal((statSync(target()).mode & 0o777).toString(8), '600')
    const copy = createSqliteStore({ path: target() })
    await copy.open()
    try {
      assert.deepEqual(await copy.calls.find(record.peer, record.requestId), { ...record, debited: 'owed' })
      assert.deepEqual(await copy.calls.usage(), await current().calls.usage())
      assert.equal(await copy.ledger.balance('owed'), 3n)
      assert.equal(await copy.documents.get('pins', 'a'), '1')
    } finally {
      await copy.close()
    }
  })

  it('overwrites no file, and writes none when the store is closed', async () => {
    writeFileSync(target(), 'mine')
    const code = tool() === undefined ? 'invalid_request' : 'backup_not_supported'
    await assert.rejects(current().backUp(target()), { code })
    assert.equal(statSync(target()).size, 4)
    rmSync(target())
    await current().close()
    await assert.rejects(current().backUp(target()), { code: 'internal_error' })
    assert.equal(existsSync(target()), false)
  })
}
