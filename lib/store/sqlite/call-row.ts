import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { ApiId } from '../../base/api-name.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { ChargeRule } from '../../interface/charge-rule.ts'
import type { Headers } from '../../interface/payload.ts'
import type { CallOutcome, CallRecord, LoggedCall, StoredResponse } from '../../interface/store.ts'

/** The columns of `calls` in the order of `callValues`; `peer` and `api` are row ids of names. */
export const CALL_COLUMNS =
  'peer, request_id, api, revision, outcome, status, code, price, charged, request_hash, at, owner_ms, upstream_ms, rule'

export function callValues(record: CallRecord, peer: number, api: number): SQLInputValue[] {
  return [
    peer,
    record.requestId,
    api,
    record.revision,
    record.outcome,
    record.status,
    record.code ?? null,
    record.price,
    record.charged,
    record.requestHash,
    record.at,
    record.ownerMs,
    record.upstreamMs,
    record.rule ?? null
  ]
}

/** The statement must return integers as bigints. */
export function toCallRecord(row: Record<string, SQLOutputValue>): CallRecord {
  const { seq: _, ...logged } = toLoggedCall(row)
  const record = row['debited'] === null ? logged : { ...logged, debited: row['debited'] as string }
  return row['response_status'] === null ? record : { ...record, response: toStoredResponse(row) }
}

export function toLoggedCall(row: Record<string, SQLOutputValue>): LoggedCall {
  return {
    seq: Number(row['seq']),
    peer: row['peer'] as string,
    requestId: row['request_id'] as Uint8Array,
    api: row['api'] as ApiId,
    revision: Number(row['revision']),
    outcome: row['outcome'] as CallOutcome,
    status: Number(row['status']),
    ...(row['code'] === null ? {} : { code: row['code'] as ErrorCode }),
    price: row['price'] as bigint,
    charged: row['charged'] as bigint,
    ...(row['rule'] === null ? {} : { rule: row['rule'] as ChargeRule }),
    requestHash: row['request_hash'] as Uint8Array,
    at: Number(row['at']),
    ownerMs: row['owner_ms'] as number,
    upstreamMs: row['upstream_ms'] as number
  }
}

/** Headers are stored as JSON, an array of pairs, to keep order and repeated names. */
export function encodeHeaders(headers: Headers): string {
  return JSON.stringify(headers)
}

function toStoredResponse(row: Record<string, SQLOutputValue>): StoredResponse {
  return {
    status: Number(row['response_status']),
    headers: JSON.parse(row['headers'] as string) as Headers,
    body: row['body'] as Uint8Array
  }
}
