import { type ErrorSource, isErrorCode, SoukError } from '../base/errors.ts'
import type { FailureFrame } from './frame.ts'

/** Longest text of a peer's that is passed on. */
const DETAIL_CHARS_MAX = 2_000

/** A peer is told the code, the safe text and the public members: never a cause, never a stack. */
export function failureFrame(id: number, error: SoukError): FailureFrame {
  return {
    id,
    code: error.code,
    detail: error.message,
    status: error.status,
    notAccepted: error.notAccepted,
    source: error.source ?? 'owner',
    retryAfterMs: Math.ceil(error.retryAfterMs ?? 0),
    members: error.members === undefined ? '' : JSON.stringify(error.members)
  }
}

/** What a peer says went wrong. The peer is a stranger: what is not of the table becomes `internal_error`. */
export function failureError(frame: FailureFrame): SoukError {
  const source: ErrorSource = frame.source === 'upstream' ? 'upstream' : 'owner'
  if (!isErrorCode(frame.code)) return new SoukError('internal_error', undefined, { source })
  const members = readMembers(frame.members)
  return new SoukError(frame.code, printable(frame.detail), {
    source,
    notAccepted: frame.notAccepted,
    ...(frame.status >= 400 && frame.status <= 599 ? { status: frame.status } : {}),
    ...(frame.retryAfterMs > 0 ? { retryAfterMs: frame.retryAfterMs } : {}),
    ...(members === undefined ? {} : { members })
  })
}

function printable(text: string): string {
  return text.slice(0, DETAIL_CHARS_MAX).replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

function readMembers(json: string): Record<string, unknown> | undefined {
  if (json === '') return undefined
  try {
    const members: unknown = JSON.parse(json)
    return typeof members === 'object' && members !== null && !Array.isArray(members) ? { ...members } : undefined
  } catch {
    return undefined
  }
}
