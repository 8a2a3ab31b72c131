/**
 * A separate process, run under a file size limit. Writes to the store at `argv[2]` until the disk fails, then prints all
 * outcomes as JSON.
 */
import { isSoukError } from '../../lib/base/errors.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { callRecord } from './call-record.ts'

const ROUNDS_MAX = 200
const VALUE = JSON.stringify('x'.repeat(50_000))

export interface Report {
  /** Number of durable rounds of writes before the disk failed. */
  rounds: number
  /** Outcomes of the writes that waited for the failed commit, and of all later operations. */
  waiting: string[]
  later: string[]
  failures: number
}

let failures = 0
const store = createSqliteStore({ path: process.argv[2]!, onFailure: () => failures++ })
await store.open()

for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
  const waiting = await outcomes([
    store.calls.append(callRecord()),
    store.documents.put('large', String(rounds), VALUE),
    store.calls.append(callRecord())
  ])
  if (waiting.every((outcome) => outcome === 'done')) continue
  const later = await outcomes([
    store.calls.append(callRecord()),
    store.documents.get('large', '0'),
    store.calls.usage(),
    store.open().then(() => store.documents.put('small', 'a', '1'))
  ])
  await store.close()
  console.log(JSON.stringify({ rounds, waiting, later, failures } satisfies Report))
  break
}

async function outcomes(work: ReadonlyArray<Promise<unknown>>): Promise<string[]> {
  const codeOf = (reason: unknown) => (isSoukError(reason) ? reason.code : String(reason))
  const settled = await Promise.allSettled(work)
  return settled.map((result) => (result.status === 'fulfilled' ? 'done' : codeOf(result.reason)))
}
