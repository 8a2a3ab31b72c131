import { asSoukError, limits, SoukError, storeFaultOf } from '../../lib/index.ts'

/**
 * Any thrown value as the error that a client gets. A write that failed on a full disk is an internal error for the library, as every failed
 * write is. The client gets the reason.
 */
export function shownError(thrown: unknown): SoukError {
  const error = asSoukError(thrown)
  if (error.code !== 'internal_error' || storeFaultOf(error) !== 'full') return error
  return new SoukError('storage_full', 'The disk of the node is full. The node stops until there is free space.', {
    cause: error,
    isChargeUnknown: error.isChargeUnknown,
    retryAfterMs: limits.STORAGE_RETRY_MS
  })
}
