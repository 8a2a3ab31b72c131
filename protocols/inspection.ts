import { SoukError, isSoukError } from '../lib/base/errors.ts'
import { RedirectedAway } from './upstream/failure.ts'

/**
 * What a provider is told when the endpoint cannot be registered. Consumers never learn where an upstream redirects to;
 * its provider, who has to correct the address, does.
 */
export function diagnosis(error: unknown): unknown {
  if (isSoukError(error) && error.cause instanceof RedirectedAway) {
    return new SoukError(
      'invalid_request',
      `The endpoint redirects to ${error.cause.to}: register that address instead.`,
      {
        cause: error,
        source: 'upstream'
      }
    )
  }
  return error
}
