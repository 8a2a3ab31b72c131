import { SoukError } from '../base/errors.ts'
import type { CallRecord } from '../interface/store.ts'

const REQUEST_ID_BYTES = 16
/** The maximum of a signed 64-bit column. */
const ATOMS_MAX = 2n ** 63n - 1n

const isAtoms = (value: bigint): boolean => value >= 0n && value <= ATOMS_MAX

/**
 * Checks everything that a store relies on, before a record joins a batch. A transaction can then fail only because of the disk
 * or a duplicate.
 *
 * @throws SoukError `internal_error`, because this node makes the records, not a peer.
 */
export function checkCallRecord(record: CallRecord): void {
  const fault = faultOf(record)
  if (fault === undefined) return
  throw new SoukError('internal_error', `The call cannot be recorded: its ${fault} is not valid.`)
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

/** A payment for further events of a stream is recorded like a call, but does not count as one. */
export const isCall = ({ rule }: Pick<CallRecord, 'rule'>): boolean => rule !== 'events'

/** A retryable error: the repeat finds the first record and its response. */
export function alreadyRecorded(): SoukError {
  return new SoukError(
    'idempotency_in_flight',
    'A call with this request id was just recorded. Repeat it to get its response.'
  )
}
