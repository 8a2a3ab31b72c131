import { type ErrorCode, type ErrorSource, isSoukError, SoukError } from '../../lib/base/errors.ts'
import { DESCRIPTION_NOTE_CHARS_MAX } from '../../lib/base/limits/descriptions.ts'

/** The response of a worker. An error loses its class between processes, so it has the public fields of a SoukError. */
export type TaskOutcome =
  | { readonly value: unknown }
  | {
      readonly error: {
        readonly code: ErrorCode
        readonly message: string
        readonly members?: Readonly<Record<string, unknown>> | undefined
        readonly status?: number | undefined
        readonly source?: ErrorSource | undefined
        /** The cause of an error without a code, for this machine's logs. */
        readonly cause?: string
      }
    }

export function failed(error: unknown): TaskOutcome {
  const { code, message, members, status, source } = isSoukError(error) ? error : unread(error)
  return {
    error: {
      code,
      message: message.slice(0, DESCRIPTION_NOTE_CHARS_MAX),
      status,
      members,
      source,
      ...(isSoukError(error) || !(error instanceof Error) ? {} : { cause: error.stack ?? error.message })
    }
  }
}

/** @throws SoukError */
export function valueOf(outcome: TaskOutcome): unknown {
  if ('value' in outcome) return outcome.value
  const { code, message, ...options } = outcome.error
  throw new SoukError(code, message, options)
}

/** Our code or a library failed on an untrusted document. The document is at fault, so this is no internal error. */
function unread(error: unknown): SoukError {
  return error instanceof RangeError
    ? new SoukError('description_too_complex', 'The description is nested too deeply, or too large when expanded.')
    : new SoukError('invalid_request', 'The description could not be read.')
}
