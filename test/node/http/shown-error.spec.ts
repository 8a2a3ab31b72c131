import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createSqliteStore, SoukError } from '../../../lib/index.ts'
import { shownError } from '../../../node/http/shown-error.ts'
import { callRecord } from '../../helpers/call-record.ts'
import { makeDisk, mayMount } from '../../helpers/small-disk.ts'

describe('the error that a client gets', () => {
  it('is the error of the library, or an internal error', () => {
    const known = new SoukError('overloaded')
    assert.equal(shownError(known), known)
    assert.equal(shownError(new Error('surprise')).code, 'internal_error')
  })

  // A file system of its own needs root.
  if (mayMount()) {
    it('says that the disk is full, from the first write that failed for it', async () => {
      const disk = makeDisk(1)
      const store = createSqliteStore({ path: join(disk.directory, 'souk.db'), freeBytesMin: 0 })
      try {
        await store.open()
        disk.fillTo(0)
        const writing = async () => {
          for (;;) await store.calls.append(callRecord())
        }
        for (const isChargeUnknown of [true, false]) {
          const failed = shownError(await writing().catch((error: unknown) => error))
          assert.deepEqual([failed.code, failed.isChargeUnknown], ['storage_full', isChargeUnknown])
          assert.ok(failed.retryAfterMs)
        }
        const read = shownError(await store.calls.recent({ limit: 1 }).catch((error: unknown) => error))
        assert.equal(read.code, 'storage_full')
      } finally {
        await store.close().catch(() => undefined)
        disk.close()
      }
    })
  }
})
