import { SoukError } from '../../base/errors.ts'

/**
 * The error for a payment repeated during a call that then failed. The call runs again only if the client repeats it once more.
 */
export const notRepeated = (): SoukError =>
  new SoukError(
    'idempotency_in_flight',
    'The same payment came with another call, which failed. Send it once more to run the call again.',
    {
      source: 'owner'
    }
  )

/** Rejects a second end of a call that was served from the store. */
export const unused = (): Promise<never> =>
  Promise.reject(new SoukError('internal_error', 'A repeated call cannot be settled again.'))
