import { type ErrorCode, type ErrorSource, isSoukError, SoukError } from '../../lib/base/errors.ts'

/** What a worker answers. An error loses its class between processes: these are a SoukError's public parts. */
export type TaskOutcome =
  | { readonly value: unknown }
  | {
      readonly error: {
        readonly code: ErrorCode
        readonly message: string
        readonly members?: Readonly<Record<string, unknown>>
        readonly status?: number
        readonly source?: ErrorSource
        /** Of an error without a code: for logs of this machine. */
        readonly cause?: string
      }
    }

export function failed(error: unknown): TaskOutcome {
  const { code, message, members, status, source } = isSoukError(error) ? error : unread(error)
  return {
    error: {
      code,
      message,
      status,
      ...(members === undefined ? {} : { members }),
      ...(source === undefined ? {} : { source }),
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

/** A stranger's document made our code, or a library, fail: the document is to blame, and nothing here is broken. */
function unread(error: unknown): SoukError {
  return error instanceof RangeError
    ? new SoukError(
        'description_too_complex',
        'The description is nested too deeply, or too large once it is written out.'
      )
    : new SoukError('invalid_request', 'The description could not be read.')
}
