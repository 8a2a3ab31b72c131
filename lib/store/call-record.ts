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
  const faults = {
    requestId: record.requestId.length !== REQUEST_ID_BYTES,
    revision: !Number.isSafeInteger(record.revision),
    status: !Number.isSafeInteger(record.status) || (record.response && !Number.isSafeInteger(record.response.status)),
    price: !isAtoms(record.price),
    charged: !isAtoms(record.charged),
    at: !Number.isSafeInteger(record.at),
    ownerMs: !Number.isFinite(record.ownerMs),
    upstreamMs: !Number.isFinite(record.upstreamMs)
  }
  for (const [field, isWrong] of Object.entries(faults)) {
    if (isWrong === true)
      throw new SoukError('internal_error', `A call could not be recorded: its ${field} is not valid.`)
  }
}

/** A retryable refusal: the repeat finds the first record, and its answer. */
export function alreadyRecorded(): SoukError {
  return new SoukError(
    'idempotency_in_flight',
    'A call with this request id was just recorded; repeat it for its answer.'
  )
}
