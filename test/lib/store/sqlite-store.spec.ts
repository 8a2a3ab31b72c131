import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteStore } from '../../../lib/store/sqlite-store.ts'
import { storeSuite } from '../../suites/store.ts'

storeSuite('the SQLite store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'souk-store-'))
  const path = join(directory, 'souk.db')
  return {
    store: createSqliteStore({ path }),
    again: () => createSqliteStore({ path }),
    dispose: () => rmSync(directory, { recursive: true })
  }
})
