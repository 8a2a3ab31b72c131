import type { ApiId } from '../../base/api-name.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { ChargeRule } from '../../interface/charge-rule.ts'
import type { Headers } from '../../interface/payload.ts'
import type { CallOutcome, CallRecord, LoggedCall } from '../../interface/store.ts'

export interface LoggedRow {
  seq: string
  peer: string
  request_id: Buffer
  api: string
  revision: string
  outcome: string
  status: number
  code: string | null
  price: string
  charged: string
  request_hash: Buffer
  at: string
  owner_ms: number
  upstream_ms: number
  rule: string | null
}

export interface SelectedCall extends LoggedRow {
  response_status: number | null
  headers: string | null
  body: Buffer | null
  debited: string | null
}

export function toCallRecord(row: SelectedCall): CallRecord {
  const { response_status: status, headers, body, debited } = row
  const { seq: _, ...logged } = toLoggedCall(row)
  const record = debited === null ? logged : { ...logged, debited }
  if (status === null || headers === null || body === null) return record
  return { ...record, response: { status, headers: JSON.parse(headers) as Headers, body: Uint8Array.from(body) } }
}

export function toLoggedCall(row: LoggedRow): LoggedCall {
  return {
    seq: Number(row.seq),
    peer: row.peer,
    requestId: Uint8Array.from(row.request_id),
    api: row.api as ApiId,
    revision: Number(row.revision),
    outcome: row.outcome as CallOutcome,
    status: row.status,
    ...(row.code === null ? {} : { code: row.code as ErrorCode }),
    price: BigInt(row.price),
    charged: BigInt(row.charged),
    ...(row.rule === null ? {} : { rule: row.rule as ChargeRule }),
    requestHash: Uint8Array.from(row.request_hash),
    at: Number(row.at),
    ownerMs: row.owner_ms,
    upstreamMs: row.upstream_ms
  }
}
