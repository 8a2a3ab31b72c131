/**
 * A separate process. Several writers append calls to the store at `argv[2]` forever. It prints each record's id as soon as its
 * promise resolved.
 */
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { formatRequestId } from '../../lib/base/request-id.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { callRecord, storedResponse } from './call-record.ts'

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
    await print(`${formatRequestId(record.requestId)}\n`)
  }
}

/** Written at once, so that a kill loses no line. A full pipe is tried again. */
async function print(line: string): Promise<void> {
  for (;;) {
    try {
      writeSync(1, line)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await pause(1)
    }
  }
}
