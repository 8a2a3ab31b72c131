import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { SoukError } from '../../base/errors.ts'
import { COMMIT_BATCH_BYTES_MAX, COMMIT_BATCH_MAX, RESPONSES_DROPPED_AT_ONCE } from '../../base/limits/store.ts'
import type { CallEffects, CallLog, CallRecord } from '../../interface/store.ts'
import { alreadyRecorded, checkCallRecord } from '../call-record.ts'
import { SELECT_LOGGED, SELECT_RECORDS } from '../call-select.ts'
import type { CommitQueue, Write } from '../commit-queue.ts'
import { checkPostings } from '../ledger-entry.ts'
import { prepareSettle } from './claims.ts'
import { CALL_COLUMNS, callValues, encodeHeaders, toCallRecord, toLoggedCall } from './call-row.ts'
import type { PutDocuments } from './documents.ts'
import type { Balances } from './balances.ts'
import type { Book } from './ledger.ts'
import type { Names } from './names.ts'
import type { StagedCall, StagedCalls } from './staged-calls.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'

export interface SqliteCallsInit {
  readonly db: DatabaseSync
  readonly queue: CommitQueue
  readonly names: Names
  readonly usage: Usage
  readonly balances: Balances
  readonly stored: StoredBytes
  readonly staged: StagedCalls
  readonly book: Book
  readonly putDocuments: PutDocuments
}

/** The size of a row without its response: fixed fields, ids, hash and index entries. */
const ROW_BYTES = 256
/** Acknowledged calls of one write. */
const ACKNOWLEDGED_AT_ONCE = 256
/** Counted for each of them, so that one commit acknowledges `COMMIT_BATCH_MAX` calls. */
const ACKNOWLEDGED_BYTES = COMMIT_BATCH_BYTES_MAX / COMMIT_BATCH_MAX
const BY_NAME = '(SELECT id FROM names WHERE name = ?)'

export function sqliteCalls(init: SqliteCallsInit): CallLog {
  const { db, queue, names, usage, stored, staged } = init
  const insert = prepareInsert(init)
  const selectAcknowledged = db.prepare(
    `SELECT r.seq, c.peer, length(r.body) AS bytes FROM calls c CROSS JOIN responses r ON r.seq = c.seq
     WHERE c.peer = ? AND c.request_id = ? AND r.is_held IS NULL
     AND NOT EXISTS (SELECT 1 FROM claims WHERE call = r.seq)`
  )
  // Ordered by `seq`, which is the order of time. An index by time would cost a page per call.
  const selectOldest = db.prepare(
    `SELECT r.seq, r.at, c.peer, length(r.body) AS bytes FROM responses r CROSS JOIN calls c ON c.seq = r.seq
     ORDER BY r.seq LIMIT ?`
  )
  const deleteResponse = db.prepare('DELETE FROM responses WHERE seq = ?')
  const drop = ({ seq, peer, bytes }: Row): void => {
    deleteResponse.run(seq ?? null)
    stored.hold(Number(peer), -Number(bytes))
    stored.place(Number(peer), -Number(bytes))
  }
  const selectOne = prepareWithBigInts(db, `${SELECT_RECORDS} WHERE c.peer = ? AND c.request_id = ?`)
  const selectRecent = prepareWithBigInts(db, `${SELECT_LOGGED} WHERE c.seq < ? ORDER BY c.seq DESC LIMIT ?`)
  const selectRecentOfApi = prepareWithBigInts(
    db,
    `${SELECT_LOGGED} WHERE c.api = ${BY_NAME} AND c.seq < ? ORDER BY c.seq DESC LIMIT ?`
  )

  return {
    append: (record, effects = NO_EFFECTS) =>
      new Promise((resolve, reject) => {
        checkCallRecord(record)
        if (effects.postings !== undefined) checkPostings(effects.postings)
        queue.push(new Append(insert, record, effects, resolve, reject))
      }),
    async find(peer, requestId) {
      const holder = names.find(peer)
      if (holder === undefined) return undefined
      const row = staged.find(holder, requestId) ?? selectOne.get(holder, requestId)
      return row && toCallRecord(row)
    },
    acknowledge(peer, requestIds) {
      for (let at = 0; at < requestIds.length; at += ACKNOWLEDGED_AT_ONCE) {
        // Copies, because the caller does not wait and may reuse its buffer.
        const ids = requestIds.slice(at, at + ACKNOWLEDGED_AT_ONCE).map((id) => new Uint8Array(id))
        queue.writeBehind(ids.length * ACKNOWLEDGED_BYTES, () => {
          const holder = names.find(peer)
          if (holder === undefined) return
          for (const id of ids) {
            const found = staged.acknowledge(holder, id) ? undefined : selectAcknowledged.get(holder, id)
            if (found !== undefined) drop(found)
          }
        })
      }
    },
    async recent({ api, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = Math.max(0, Math.floor(limit))
      const found = api === undefined ? selectRecent.all(before, rows) : selectRecentOfApi.all(api, before, rows)
      return found.map(toLoggedCall)
    },
    async usage() {
      return usage.all()
    },
    async dropResponses(before) {
      let dropped = 0
      for (;;) {
        // In slices, so that other writes can run in between and no turn of the event loop takes long.
        const slice = await queue.write(RESPONSES_DROPPED_AT_ONCE * ROW_BYTES, () => {
          const old = sliceOf(selectOldest.all(RESPONSES_DROPPED_AT_ONCE), before)
          old.forEach(drop)
          return old.length
        })
        dropped += slice
        if (slice === 0) return dropped
      }
    }
  }
}

type Row = Record<string, SQLOutputValue>

/** The rows older than `before`, as many as one commit can free the pages of. */
function sliceOf(oldest: readonly Row[], before: number): Row[] {
  let bytes = 0
  return oldest.filter((row) => {
    if (Number(row['at']) >= before || bytes > COMMIT_BATCH_BYTES_MAX) return false
    bytes += Number(row['bytes'])
    return true
  })
}

type Insert = (record: CallRecord, headers: string, effects: CallEffects) => boolean

const NO_EFFECTS: CallEffects = {}

/** A record that is written. A class instead of closures, because each call makes one. */
class Append implements Write {
  readonly bytes: number
  readonly reject: (error: SoukError) => void
  readonly #insert: Insert
  readonly #record: CallRecord
  readonly #headers: string
  readonly #effects: CallEffects
  readonly #resolve: () => void
  #isNew = false

  constructor(
    insert: Insert,
    record: CallRecord,
    effects: CallEffects,
    resolve: () => void,
    reject: (error: SoukError) => void
  ) {
    this.#insert = insert
    this.#record = record
    this.#headers = encodeHeaders(record.response?.headers ?? [])
    this.#effects = effects
    this.#resolve = resolve
    this.reject = reject
    this.bytes = ROW_BYTES + this.#headers.length + (record.response?.body.length ?? 0)
  }

  apply(): void {
    this.#isNew = this.#insert(this.#record, this.#headers, this.#effects)
  }

  resolve(): void {
    if (this.#isNew) this.#resolve()
    else this.reject(alreadyRecorded())
  }
}

/** Inserts a record with its related rows; false if a record with that id exists already. */
function prepareInsert(init: SqliteCallsInit): Insert {
  const { db, names, usage, balances, stored, staged, putDocuments } = init
  const selectCall = db.prepare('SELECT 1 FROM calls WHERE peer = ? AND request_id = ?')
  const insertAtOnce = prepareInsertAtOnce(init)
  return (record, headers, { postings = [], documents }) => {
    const api = names.idOf(record.api)
    const peer = names.idOf(record.peer)
    if (staged.has(peer, record.requestId) || selectCall.get(peer, record.requestId) !== undefined) return false
    const { response } = record
    const isStored = response !== undefined && stored.fits(peer, response.body.length)
    if (documents !== undefined) putDocuments(documents)
    const call = { record, peer, api, headers: isStored ? headers : undefined, postings }
    if (staged.accepts(record, postings)) {
      staged.add(call)
      for (const { account, amount } of postings) balances.add(names.idOf(account), amount)
    } else insertAtOnce(call)
    // Last, so that a failed row is not counted.
    usage.add(api, record)
    if (isStored) stored.hold(peer, response.body.length)
    return true
  }
}

/** Inserts a call that cannot be staged into its tables. */
function prepareInsertAtOnce({ db, stored, staged, book }: SqliteCallsInit): (call: StagedCall) => void {
  const marks = CALL_COLUMNS.replaceAll(/\w+/g, '?')
  const insertCall = db.prepare(`INSERT INTO calls (seq, ${CALL_COLUMNS}) VALUES (?, ${marks})`)
  const settleClaim = prepareSettle(db)
  const insertResponse = db.prepare(
    'INSERT INTO responses (seq, at, status, headers, body, is_held) VALUES (?, ?, ?, ?, ?, ?)'
  )
  return ({ record, peer, api, headers, postings }) => {
    const { response, at, isHeld } = record
    const seq = staged.nextSeq()
    insertCall.run(seq, ...callValues(record, peer, api))
    const isStored = response !== undefined && headers !== undefined
    if (isStored) insertResponse.run(seq, at, response.status, headers, response.body, isHeld === true ? 1 : null)
    if (record.claim !== undefined) settleClaim(record.claim, at, seq)
    if (postings.length > 0) book.enter({ kind: 'call', call: seq, at, postings })
    if (isStored) stored.place(peer, response.body.length)
  }
}

function prepareWithBigInts(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}
