import type { ClientBase } from 'pg'
import { RESPONSES_DROPPED_AT_ONCE } from '../../base/limits/store.ts'
import type { CallRecord, Claim, ClaimLog, KnownClaim } from '../../interface/store.ts'
import { SELECT_RECORDS } from '../call-select.ts'
import { type SelectedCall, toCallRecord } from './call-row.ts'
import type { PostgresNames } from './names.ts'
import type { PostgresQueue } from './queue.ts'
import type { Writer } from './transaction.ts'

interface Taking {
  readonly claim: Claim
  readonly expired: number
}

const ROW_BYTES = 128
/** A time later than that of every claim. */
const ANY_AGE = Number.MAX_SAFE_INTEGER

export function postgresClaims(queue: PostgresQueue, names: PostgresNames): ClaimLog {
  const takes: Writer<Taking, KnownClaim | undefined> = {
    async run(db, items) {
      const ids = await names.idsOf(items.map(({ claim }) => claim.holder))
      const found: Array<KnownClaim | undefined> = []
      // One by one, so that a duplicate name finds the first.
      for (const { claim, expired } of items) {
        const isTaken = await insert(db, claim, ids.get(claim.holder), expired)
        found.push(isTaken ? undefined : await select(db, claim.name))
      }
      return found
    }
  }
  return {
    take: (claim, expired) =>
      queue.write(takes, { claim: { ...claim, name: Uint8Array.from(claim.name) }, expired }, ROW_BYTES),
    async put(claim) {
      await queue.write(takes, { claim: { ...claim, name: Uint8Array.from(claim.name) }, expired: ANY_AGE }, ROW_BYTES)
    },
    free: (name) => queue.write(frees, Buffer.from(name), ROW_BYTES),
    async drop(before, most) {
      for (let dropped = 0; ; ) {
        // In slices, so that other writes can run in between.
        const slice = await queue.write(drops, { before, most }, RESPONSES_DROPPED_AT_ONCE * ROW_BYTES)
        dropped += slice
        if (slice < RESPONSES_DROPPED_AT_ONCE) return dropped
      }
    }
  }
}

/**
 * Writes the outcomes of claims, in the transaction of their calls. They are sorted, so that no two processes wait for each
 * other.
 */
export async function settleClaims(
  db: ClientBase,
  appended: ReadonlyArray<{ readonly seq: string; readonly record: CallRecord }>
): Promise<void> {
  const settled = appended.flatMap(({ seq, record: { claim, at } }) =>
    claim === undefined ? [] : [{ seq, at, claim }]
  )
  settled.sort((a, b) => Buffer.compare(a.claim.name, b.claim.name))
  for (const { seq, at, claim } of settled) {
    const name = Buffer.from(claim.name)
    if (claim.requestHash === undefined) await db.query({ name: 'free-claim', text: FREE, values: [name] })
    else {
      await db.query({
        name: 'answer-claim',
        text: 'UPDATE claims SET request_hash = $2, call = $3, at = $4 WHERE name = $1',
        values: [name, Buffer.from(claim.requestHash), seq, at]
      })
    }
  }
}

const FREE = 'DELETE FROM claims WHERE name = $1'

const frees: Writer<Buffer, void> = {
  isBlind: true,
  async run(db, items) {
    for (const name of items) await db.query({ name: 'free-claim', text: FREE, values: [name] })
    return items.map(() => undefined)
  }
}

const drops: Writer<{ before: number; most: number }, number> = {
  async run(db, items) {
    const counts: number[] = []
    for (const { before, most } of items) {
      // Finds the newest claim beyond the limit; it and all older ones are deleted.
      const { rowCount } = await db.query(
        `DELETE FROM claims WHERE name IN (
           SELECT name FROM claims
           WHERE at < greatest($1::bigint, (SELECT at + 1 FROM claims ORDER BY at DESC LIMIT 1 OFFSET $2)) ORDER BY at LIMIT $3
         )`,
        [before, most, RESPONSES_DROPPED_AT_ONCE]
      )
      counts.push(rowCount ?? 0)
    }
    return counts
  }
}

async function insert(db: ClientBase, claim: Claim, holder: string | undefined, expired: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'take-claim',
    text: `INSERT INTO claims (name, holder, epoch, at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET
             holder = excluded.holder, epoch = excluded.epoch, at = excluded.at, request_hash = NULL, call = NULL
           WHERE claims.at < $5`,
    values: [Buffer.from(claim.name), holder, claim.epoch, claim.at, expired]
  })
  return rowCount === 1
}

interface ClaimRow {
  holder: string
  epoch: string
  at: string
  request_hash: Buffer | null
  call: string | null
}

async function select(db: ClientBase, name: Uint8Array): Promise<KnownClaim | undefined> {
  const { rows } = await db.query<ClaimRow>({
    name: 'find-claim',
    text: `SELECT n.name AS holder, epoch, at, request_hash, call FROM claims JOIN names n ON n.id = holder
           WHERE claims.name = $1`,
    values: [Buffer.from(name)]
  })
  const [row] = rows
  if (row === undefined) return undefined
  const claim = { name, holder: row.holder, epoch: BigInt(row.epoch), at: Number(row.at) }
  if (row.call === null || row.request_hash === null) return claim
  const calls = await db.query<SelectedCall>({
    name: 'find-call-of-claim',
    text: `${SELECT_RECORDS} WHERE c.seq = $1`,
    values: [row.call]
  })
  const [call] = calls.rows
  if (call === undefined) return claim
  return { ...claim, answered: { requestHash: Uint8Array.from(row.request_hash), record: toCallRecord(call) } }
}
