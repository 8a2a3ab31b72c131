import { SoukError } from '../base/errors.ts'
import type { CallRecord } from '../interface/store.ts'

const REQUEST_ID_BYTES = 16
/** What a signed 64-bit column holds. */
const ATOMS_MAX = 2n ** 63n - 1n

const isAtoms = (value: bigint): boolean => value >= 0n && value <= ATOMS_MAX

/**
 * Everything a store relies on, checked before a record waits with others: what reaches a transaction can then fail by the
 * disk only, or by being there already.
 *
 * @throws SoukError `internal_error`: a record is made by this node, never by a stranger.
 */
export function checkCallRecord(record: CallRecord): void {
  const fault = faultOf(record)
  if (fault === undefined) return
  throw new SoukError('internal_error', `A call could not be recorded: its ${fault} is not valid.`)
}

function faultOf(record: CallRecord): keyof CallRecord | undefined {
  if (record.requestId.length !== REQUEST_ID_BYTES) return 'requestId'
  if (!Number.isSafeInteger(record.revision)) return 'revision'
  if (!Number.isSafeInteger(record.status)) return 'status'
  if (record.response !== undefined && !Number.isSafeInteger(record.response.status)) return 'response'
  if (!isAtoms(record.price)) return 'price'
  if (!isAtoms(record.charged)) return 'charged'
  if (!Number.isSafeInteger(record.at)) return 'at'
  if (!Number.isFinite(record.ownerMs)) return 'ownerMs'
  return Number.isFinite(record.upstreamMs) ? undefined : 'upstreamMs'
}

/** A payment for further events of a stream is recorded like a call, and is none. */
export const isCall = ({ rule }: Pick<CallRecord, 'rule'>): boolean => rule !== 'events'

/** A retryable refusal: the repeat finds the first record, and its answer. */
export function alreadyRecorded(): SoukError {
  return new SoukError(
    'idempotency_in_flight',
    'A call with this request id was just recorded; repeat it for its answer.'
  )
}
