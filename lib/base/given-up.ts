import { isSoukError, SoukError } from './errors.ts'

/** The error of a cancelled call. A signal's own reason is the caller's and stays in the cause. */
export function givenUp(signal: AbortSignal): SoukError {
  const reason: unknown = signal.reason
  if (isSoukError(reason)) return reason
  return new SoukError('call_interrupted', 'The caller cancelled the call.', { cause: reason, source: 'ingress' })
}
