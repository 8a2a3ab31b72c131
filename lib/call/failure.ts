import { type ErrorSource, isErrorCode, isSoukError, SoukError } from '../base/errors.ts'
import { FAILURE_DETAIL_CHARS_MAX, FAILURE_MEMBERS_CHARS_MAX } from '../base/limits.ts'
import type { FailureFrame } from './frame.ts'

/** A peer is told the code, the safe text and the public members: never a cause, never a stack. */
export function failureFrame(id: number, error: SoukError): FailureFrame {
  return {
    id,
    code: error.code,
    detail: error.message.slice(0, FAILURE_DETAIL_CHARS_MAX),
    status: error.status,
    notAccepted: error.notAccepted,
    source: error.source ?? 'owner',
    retryAfterMs: Math.ceil(error.retryAfterMs ?? 0),
    members: writeMembers(error.members)
  }
}

/** Why nobody waits for a call any more. A signal's own reason is the caller's and means nothing to others. */
export function givenUp(signal: AbortSignal): SoukError {
  const reason: unknown = signal.reason
  if (isSoukError(reason)) return reason
  return new SoukError('call_interrupted', 'The call was given up by its caller.', { cause: reason, source: 'ingress' })
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
  return text.slice(0, FAILURE_DETAIL_CHARS_MAX).replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** Whatever an adapter put there, there is an answer: what cannot be written or is too long is left out. */
function writeMembers(members: SoukError['members']): string {
  if (members === undefined) return ''
  try {
    const json = JSON.stringify(members)
    return json.length <= FAILURE_MEMBERS_CHARS_MAX ? json : ''
  } catch {
    return ''
  }
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
