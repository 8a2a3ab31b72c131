import type { ClientBase } from 'pg'
import type { ApiId } from '../../base/api-name.ts'
import { RESPONSES_DROPPED_AT_ONCE } from '../../base/limits/store.ts'
import type { CallEffects, CallLog, CallRecord, UsageRow } from '../../interface/store.ts'
import { alreadyRecorded, checkCallRecord, isCall } from '../call-record.ts'
import { SELECT_LOGGED, SELECT_RECORDS } from '../call-select.ts'
import { checkPostings } from '../ledger-entry.ts'
import { settleClaims } from './claims.ts'
import { putDocuments } from './documents.ts'
import { type LoggedRow, type SelectedCall, toCallRecord, toLoggedCall } from './call-row.ts'
import { enterAll } from './entries.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresQueue } from './queue.ts'
import type { PostgresReads } from './reads.ts'
import { type PostgresStoredBytes, postgresStoredBytes, sumByPeer } from './stored-bytes.ts'
import type { Writer } from './transaction.ts'

interface Append {
  readonly record: CallRecord
  readonly effects: CallEffects
}

/** A record with its row id. */
interface Appended extends Append {
  readonly seq: string
}

const ROW_BYTES = 256
const BY_NAME = (mark: string): string => `(SELECT id FROM names WHERE name = ${mark})`

export function postgresCalls(
  reads: PostgresReads,
  queue: PostgresQueue,
  names: PostgresNames,
  storedBytesMax: number
): CallLog {
  const stored = postgresStoredBytes(storedBytesMax)
  const appends = appendWriter(names, stored)
  const acknowledgements = acknowledgementWriter(stored)
  const drops = dropWriter(stored)
  return {
    async append(record, effects = {}) {
      checkCallRecord(record)
      if (effects.postings !== undefined) checkPostings(effects.postings)
      const bytes = ROW_BYTES + (record.response?.body.length ?? 0)
      if (!(await queue.write(appends, { record, effects }, bytes))) throw alreadyRecorded()
    },
    async find(peer, requestId) {
      const { rows } = await reads.query<SelectedCall>({
        name: 'find-call',
        text: `${SELECT_RECORDS} WHERE c.peer = ${BY_NAME('$1')} AND c.request_id = $2`,
        values: [peer, requestId]
      })
      return rows[0] && toCallRecord(rows[0])
    },
    acknowledge(peer, requestIds) {
      // Copies, because the caller does not wait and may reuse its buffers.
      const ids = requestIds.map((id) => Buffer.from(id))
      queue.writeBehind(acknowledgements, { peer, ids }, ROW_BYTES * ids.length)
    },
    async recent({ api, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = Math.max(0, Math.floor(limit))
      const own = api === undefined ? '' : `AND c.api = ${BY_NAME('$3')}`
      const values = [rows, before, ...(api === undefined ? [] : [api])]
      const text = `${SELECT_LOGGED} WHERE c.seq < $2 ${own} ORDER BY c.seq DESC LIMIT $1`
      const { rows: found } = await reads.query<LoggedRow>(text, values)
      return found.map(toLoggedCall)
    },
    async usage() {
      const { rows } = await reads.query<Record<keyof UsageRow, string>>(
        'SELECT n.name AS api, captured, voided, metered, charged FROM usage u JOIN names n ON n.id = u.api ORDER BY n.name'
      )
      return rows.map((row) => ({
        api: row.api as ApiId,
        captured: Number(row.captured),
        voided: Number(row.voided),
        metered: BigInt(row.metered),
        charged: BigInt(row.charged)
      }))
    },
    async dropResponses(before) {
      let dropped = 0
      for (;;) {
        // In slices, so that other writes can run in between.
        const slice = await queue.write(drops, before, RESPONSES_DROPPED_AT_ONCE * ROW_BYTES)
        dropped += slice
        if (slice < RESPONSES_DROPPED_AT_ONCE) return dropped
      }
    }
  }
}

interface DeletedResponse {
  peer: string
  bytes: number
}

const releasedBy = (rows: readonly DeletedResponse[]): Map<string, number> =>
  sumByPeer(rows.map(({ peer, bytes }) => ({ peer, bytes: -bytes })))

function acknowledgementWriter(stored: PostgresStoredBytes): Writer<{ peer: string; ids: Buffer[] }, void> {
  return {
    async run(db, items) {
      for (const { peer, ids } of items) {
        const { rows } = await db.query<DeletedResponse>({
          name: 'acknowledge',
          text: `DELETE FROM responses r USING calls c
                 WHERE r.seq = c.seq AND c.peer = ${BY_NAME('$1')} AND c.request_id = ANY($2::bytea[])
                   AND r.is_held IS NOT TRUE AND NOT EXISTS (SELECT 1 FROM claims WHERE call = r.seq)
                 RETURNING c.peer, octet_length(r.body) AS bytes`,
          values: [peer, ids]
        })
        await stored.add(db, releasedBy(rows))
      }
      return items.map(() => undefined)
    }
  }
}

function dropWriter(stored: PostgresStoredBytes): Writer<number, number> {
  return {
    async run(db, items) {
      const counts: number[] = []
      for (const before of items) {
        const { rows } = await db.query<DeletedResponse>(
          `DELETE FROM responses r USING calls c WHERE r.seq = c.seq AND r.seq IN (
             SELECT seq FROM (SELECT seq, at FROM responses ORDER BY seq LIMIT $2) AS oldest WHERE at < $1
           ) RETURNING c.peer, octet_length(r.body) AS bytes`,
          [before, RESPONSES_DROPPED_AT_ONCE]
        )
        await stored.add(db, releasedBy(rows))
        counts.push(rows.length)
      }
      return counts
    }
  }
}

/** Returns false for a record whose id exists already, also earlier in the same batch. */
function appendWriter(names: PostgresNames, stored: PostgresStoredBytes): Writer<Append, boolean> {
  return {
    awaitsOutcome: true,
    async run(db, items) {
      const ids = await names.idsOf(items.flatMap(({ record }) => [record.peer, record.api]))
      const seqs = await insertCalls(db, items, ids)
      const isNew: boolean[] = []
      const appended: Appended[] = []
      for (const append of items) {
        const key = keyOf(ids.get(append.record.peer), append.record.requestId)
        const seq = seqs.get(key)
        seqs.delete(key)
        isNew.push(seq !== undefined)
        if (seq !== undefined) appended.push({ ...append, seq })
      }
      await insertResponses(db, appended, ids, stored)
      await settleClaims(db, appended)
      // In the same order as all writers, so that two processes never wait for each other's rows.
      await enterAll(db, names, appended.flatMap(entryOf))
      await putDocuments(
        db,
        appended.flatMap(({ effects }) => effects.documents ?? [])
      )
      await addUsage(db, appended, ids)
      return isNew
    }
  }
}

function entryOf({ record, effects, seq }: Appended) {
  const { postings } = effects
  return postings === undefined ? [] : [{ kind: 'call', reference: null, call: seq, at: record.at, postings }]
}

const keyOf = (peer: string | undefined, requestId: Uint8Array): string =>
  `${peer}/${Buffer.from(requestId).toString('hex')}`

/** The row ids of the inserted records, by peer and request id. */
async function insertCalls(
  db: ClientBase,
  items: readonly Append[],
  ids: ReadonlyMap<string, string>
): Promise<Map<string, string>> {
  const column = <T>(value: (record: CallRecord) => T): T[] => items.map(({ record }) => value(record))
  const { rows } = await db.query<{ seq: string; peer: string; request_id: Buffer }>({
    name: 'append-calls',
    text: `INSERT INTO calls (peer, request_id, api, revision, outcome, status, code, price, charged, request_hash, at,
             owner_ms, upstream_ms, rule)
           SELECT peer, request_id, api, revision, outcome, status, code, price, charged, request_hash, at, owner_ms,
             upstream_ms, rule
           FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::integer[], $7::text[],
             $8::bigint[], $9::bigint[], $10::bytea[], $11::bigint[], $12::double precision[], $13::double precision[],
             $14::text[])
           WITH ORDINALITY AS g (peer, request_id, api, revision, outcome, status, code, price, charged, request_hash, at,
             owner_ms, upstream_ms, rule, n)
           ORDER BY n ON CONFLICT (peer, request_id) DO NOTHING RETURNING seq, peer, request_id`,
    values: [
      column(({ peer }) => ids.get(peer)),
      column(({ requestId }) => Buffer.from(requestId)),
      column(({ api }) => ids.get(api)),
      column(({ revision }) => revision),
      column(({ outcome }) => outcome),
      column(({ status }) => status),
      column(({ code }) => code),
      column(({ price }) => price),
      column(({ charged }) => charged),
      column(({ requestHash }) => Buffer.from(requestHash)),
      column(({ at }) => at),
      column(({ ownerMs }) => ownerMs),
      column(({ upstreamMs }) => upstreamMs),
      column(({ rule }) => rule)
    ]
  })
  return new Map(rows.map(({ seq, peer, request_id }) => [keyOf(peer, request_id), seq]))
}

async function insertResponses(
  db: ClientBase,
  appended: readonly Appended[],
  ids: ReadonlyMap<string, string>,
  stored: PostgresStoredBytes
): Promise<void> {
  const asked = appended.flatMap(({ seq, record: { at, response, isHeld = false, peer } }) =>
    response ? [{ seq, at, isHeld, ...response, peer: ids.get(peer) ?? '', bytes: response.body.length }] : []
  )
  if (asked.length === 0) return
  const chosen = await stored.choose(db, asked)
  const kept = asked.filter((_, i) => chosen[i])
  if (kept.length === 0) return
  await db.query({
    name: 'keep-responses',
    text: `INSERT INTO responses (seq, at, status, headers, body, is_held)
           SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::text[], $5::bytea[], $6::boolean[])`,
    values: [
      kept.map(({ seq }) => seq),
      kept.map(({ at }) => at),
      kept.map(({ status }) => status),
      kept.map(({ headers }) => JSON.stringify(headers)),
      kept.map(({ body }) => Buffer.from(body)),
      kept.map(({ isHeld }) => isHeld)
    ]
  })
  await stored.add(db, sumByPeer(kept))
}

async function addUsage(
  db: ClientBase,
  appended: readonly Appended[],
  ids: ReadonlyMap<string, string>
): Promise<void> {
  const sums = new Map<string, { captured: number; voided: number; metered: bigint; charged: bigint }>()
  for (const { record } of appended) {
    const sum = sums.get(record.api) ?? { captured: 0, voided: 0, metered: 0n, charged: 0n }
    sums.set(record.api, sum)
    sum.charged += record.charged
    if (record.outcome === 'captured') {
      if (isCall(record)) sum.captured++
      sum.metered += record.price
    } else sum.voided++
  }
  const rows = [...sums.values()]
  await db.query({
    name: 'add-usage',
    text: `INSERT INTO usage (api, captured, voided, metered, charged)
           SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::numeric[], $5::numeric[])
             AS g (api, captured, voided, metered, charged) ORDER BY api
           ON CONFLICT (api) DO UPDATE SET
             captured = usage.captured + excluded.captured, voided = usage.voided + excluded.voided,
             metered = usage.metered + excluded.metered, charged = usage.charged + excluded.charged`,
    values: [
      [...sums.keys()].map((api) => ids.get(api)),
      rows.map(({ captured }) => captured),
      rows.map(({ voided }) => voided),
      rows.map(({ metered }) => metered),
      rows.map(({ charged }) => charged)
    ]
  })
}
