/**
 * A separate process. Several writers append calls to the store at `argv[2]` forever. It prints each record's id as soon as its
 * promise resolved.
 */
import { formatRequestId } from '../../lib/base/request-id.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { callRecord, storedResponse } from './call-record.ts'
import { printLine } from './print-line.ts'

const WRITERS = 16
const POSTINGS = [
  { account: 'owed', amount: 1n },
  { account: 'earned', amount: -1n }
]

const store = createSqliteStore({ path: process.argv[2]! })
await store.open()
await Promise.all(Array.from({ length: WRITERS }, write))

async function write(): Promise<never> {
  for (;;) {
    const record = callRecord({ response: storedResponse() })
    await store.calls.append(record, { postings: POSTINGS })
    printLine(formatRequestId(record.requestId))
  }
}
