import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { latin1 } from '../../base/bytes.ts'
import { STAGED_BODY_BYTES_MAX, STAGED_CALLS_MAX, STAGED_CALLS_MOVED, STAGED_SLOTS } from '../../base/limits/store.ts'
import type { Posting } from '../../interface/ledger.ts'
import type { CallRecord } from '../../interface/store.ts'
import { SELECT_STAGED } from '../call-select.ts'
import { CALL_COLUMNS, callValues } from './call-row.ts'
import type { Names } from './names.ts'
import type { StoredBytes } from './stored-bytes.ts'

/** A call with the row ids of its names. */
export interface StagedCall {
  readonly record: CallRecord
  readonly peer: number
  readonly api: number
  /** Present if the response is stored. */
  readonly headers: string | undefined
  /** Two, or none. */
  readonly postings: readonly Posting[]
}

/**
 * The newest calls, each with its response and its ledger entry in one row of `staged_calls`. So a commit writes the last page of one table,
 * and not a page each of `calls`, `responses`, `entries` and their indices. Older calls move to those tables together. A response that
 * is acknowledged in time never does.
 */
export interface StagedCalls {
  /** Number of the next call, and of the next entry. They are higher than all earlier ones. */
  nextSeq(): number
  nextEntry(): number
  /** False for a call that other rows refer to, or that is too large to be written twice. */
  accepts(record: CallRecord, postings: readonly Posting[]): boolean
  has(peer: number, requestId: Uint8Array): boolean
  /** The row of a staged call, with the columns of `SELECT_RECORDS`. */
  find(peer: number, requestId: Uint8Array): Record<string, SQLOutputValue> | undefined
  /** Adds a call in the running transaction. */
  add(call: StagedCall): void
  /** Drops the response of a staged call, in memory. Returns false if there is no such call. */
  acknowledge(peer: number, requestId: Uint8Array): boolean
  /** Makes the running transaction move all staged calls, because its caller reads the tables. */
  settle(): void
  /** Moves calls, at the end of the running transaction. @param isAll - true if a sum over the tables is written */
  write(isAll: boolean): void
  /** Call it after the commit. */
  keep(): void
  /** Call it after a rollback. */
  forget(): void
  readonly size: number
}

interface Row {
  readonly seq: number
  readonly peer: number
  /** Size of its response, if that is stored. */
  readonly bytes: number | undefined
  /** The response need not be kept. */
  isAcknowledged: boolean
}

/** Size of the response that the row keeps. */
const keptBytes = ({ bytes, isAcknowledged }: Row): number | undefined => (isAcknowledged ? undefined : bytes)

/** The staged rows of a range of numbers: rows of earlier rounds remain in the slots. */
const MOVED = 'FROM staged_calls WHERE slot BETWEEN ? AND ? AND seq BETWEEN ? AND ?'

export function sqliteStagedCalls(db: DatabaseSync, names: Names, stored: StoredBytes): StagedCalls {
  const insert = prepareInsert(db, names)
  const selectOne = db.prepare(`${SELECT_STAGED} WHERE c.slot = ?`)
  selectOne.setReadBigInts(true)
  const mover = prepareMove(db, names)

  /** By peer and request id, oldest first. */
  const rows = new Map<string, Row>()
  /** Changes of the running transaction. */
  let added: string[] = []
  let acknowledged: Row[] = []
  let isSettling = false
  for (const [key, row] of rowsLeft(db)) {
    rows.set(key, row)
    stored.hold(row.peer, row.bytes ?? 0)
  }
  const newest = db.prepare(SELECT_NEWEST).get()
  let lastSeq = Number(newest?.['seq'])
  let lastEntry = Number(newest?.['entry'])
  const oldest = (): number => rows.values().next().value?.seq ?? lastSeq

  /** Moves the calls up to this number. */
  const move = (through: number): void => {
    const keys: string[] = []
    const moved: Row[] = []
    for (const [key, row] of rows) {
      if (row.seq > through) break
      keys.push(key)
      moved.push(row)
    }
    mover(moved)
    for (const key of keys) rows.delete(key)
    for (const row of moved) {
      const bytes = keptBytes(row)
      if (bytes !== undefined) stored.place(row.peer, bytes)
    }
  }

  return {
    nextSeq: () => ++lastSeq,
    nextEntry: () => ++lastEntry,
    accepts: ({ claim, isHeld, response }, postings) =>
      claim === undefined &&
      isHeld === undefined &&
      (postings.length === 0 || postings.length === 2) &&
      (response === undefined || response.body.length <= STAGED_BODY_BYTES_MAX) &&
      lastSeq + 1 - oldest() < STAGED_SLOTS,
    has: (peer, requestId) => rows.has(keyOf(peer, requestId)),
    find(peer, requestId) {
      const row = rows.get(keyOf(peer, requestId))
      const found = row && selectOne.get(slotOf(row.seq))
      const isKept = row !== undefined && keptBytes(row) !== undefined
      return isKept ? found : found && { ...found, response_status: null }
    },
    add(call) {
      const { record, peer, headers, postings } = call
      const seq = ++lastSeq
      insert(call, seq, postings.length === 0 ? null : ++lastEntry)
      const key = keyOf(peer, record.requestId)
      const bytes = headers === undefined ? undefined : record.response?.body.length
      rows.set(key, { seq, peer, bytes, isAcknowledged: false })
      added.push(key)
    },
    acknowledge(peer, requestId) {
      const row = rows.get(keyOf(peer, requestId))
      if (row === undefined) return false
      const bytes = keptBytes(row)
      if (bytes !== undefined) {
        row.isAcknowledged = true
        stored.hold(peer, -bytes)
        acknowledged.push(row)
      }
      return true
    },
    settle: () => void (isSettling = true),
    write(isAll) {
      if (isAll || isSettling) move(lastSeq)
      else if (lastSeq - oldest() >= STAGED_CALLS_MAX) move(lastSeq - STAGED_CALLS_MAX + STAGED_CALLS_MOVED)
    },
    keep() {
      added = []
      acknowledged = []
      isSettling = false
    },
    forget() {
      for (const key of added) rows.delete(key)
      for (const row of acknowledged) row.isAcknowledged = false
      this.keep()
    },
    get size() {
      return rows.size
    }
  }
}

function prepareInsert(db: DatabaseSync, names: Names): (call: StagedCall, seq: number, entry: number | null) => void {
  const marks = CALL_COLUMNS.replaceAll(/\w+/g, '?')
  const insert = db.prepare(
    `INSERT OR REPLACE INTO staged_calls
     (slot, seq, response_status, headers, body, entry, account, contra, amount, ${CALL_COLUMNS})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${marks})`
  )
  return ({ record, peer, api, headers, postings: [first, second] }, seq, entry) => {
    const response = headers === undefined ? undefined : record.response
    insert.run(
      slotOf(seq),
      seq,
      response?.status ?? null,
      headers ?? null,
      response?.body ?? null,
      entry,
      first === undefined ? null : names.idOf(first.account),
      second === undefined ? null : names.idOf(second.account),
      first?.amount ?? null,
      // Last, because V8 makes no array for spread arguments at the end.
      ...callValues(record, peer, api)
    )
  }
}

const SELECT_LEFT = `
  SELECT seq, peer, request_id, length(body) AS bytes FROM staged_calls
  WHERE seq > (SELECT through FROM sums WHERE name = 'staged') ORDER BY seq`
const SELECT_NEWEST = `
  SELECT max(coalesce(max(seq), 0), coalesce((SELECT max(seq) FROM calls), 0)) AS seq,
    max(coalesce(max(entry), 0), coalesce((SELECT max(seq) FROM entries), 0)) AS entry FROM staged_calls`

/** The calls that an earlier process staged, oldest first. */
function* rowsLeft(db: DatabaseSync): Iterable<readonly [key: string, row: Row]> {
  for (const row of db.prepare(SELECT_LEFT).all()) {
    const peer = Number(row['peer'])
    const bytes = row['bytes'] === null ? undefined : Number(row['bytes'])
    yield [
      keyOf(peer, row['request_id'] as Uint8Array),
      { seq: Number(row['seq']), peer, bytes, isAcknowledged: false }
    ]
  }
}

/** Moves rows with consecutive slots, in the running transaction. */
function prepareMove(db: DatabaseSync, names: Names): (moved: readonly Row[]) => void {
  const moveCalls = db.prepare(`INSERT INTO calls (seq, ${CALL_COLUMNS}) SELECT seq, ${CALL_COLUMNS} ${MOVED}`)
  const moveResponses = db.prepare(
    `INSERT INTO responses (seq, at, status, headers, body) SELECT seq, at, response_status, headers, body ${MOVED}
     AND response_status IS NOT NULL AND seq NOT IN (SELECT value FROM json_each(?))`
  )
  const moveEntries = db.prepare(
    `INSERT INTO entries (kind, seq, at, call, account, contra, amount) SELECT ?, entry, at, seq, account, contra, amount
     ${MOVED} AND amount IS NOT NULL`
  )
  const moveOn = db.prepare(`UPDATE sums SET through = ? WHERE name = 'staged'`)
  return (moved) => {
    const [first, last] = [moved[0]?.seq, moved.at(-1)?.seq]
    if (first === undefined || last === undefined) return
    const acknowledged = moved.filter((row) => keptBytes(row) === undefined).map(({ seq }) => seq)
    for (const [from, to] of slotsOf(first, last)) {
      const range = [from, to, first, last] as const
      moveCalls.run(...range)
      if (acknowledged.length < moved.length) moveResponses.run(...range, JSON.stringify(acknowledged))
      moveEntries.run(names.idOf('call'), ...range)
    }
    moveOn.run(last)
  }
}

const slotOf = (seq: number): number => seq % STAGED_SLOTS

/** The slots of a range of numbers, which may pass the end of the ring. */
function slotsOf(first: number, last: number): ReadonlyArray<readonly [from: number, to: number]> {
  const [from, to] = [slotOf(first), slotOf(last)]
  if (from <= to) return [[from, to]]
  return [
    [from, STAGED_SLOTS - 1],
    [0, to]
  ]
}

const keyOf = (peer: number, requestId: Uint8Array): string => `${peer} ${latin1(requestId)}`
