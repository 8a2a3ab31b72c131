import { utf8 } from '../base/bytes.ts'
import { type ErrorSource, isErrorCode, SoukError } from '../base/errors.ts'
import { checkJson } from '../base/json-text.ts'
import { FAILURE_DETAIL_CHARS_MAX, FAILURE_MEMBERS_CHARS_MAX } from '../base/limits/call.ts'
import type { FailureFrame } from './frame.ts'

/** An error as a peer receives it: code, safe text and public members, never a cause or stack. */
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

/** The error that a peer sent. Peers are untrusted, so an unknown code becomes `internal_error`. */
export function failureError(frame: FailureFrame): SoukError {
  const source: ErrorSource = frame.source === 'upstream' || frame.source === 'ingress' ? frame.source : 'owner'
  if (!isErrorCode(frame.code))
    return new SoukError('internal_error', 'The owner reported an error that this node does not know.', { source })
  const members = readMembers(frame.members)
  return new SoukError(frame.code, printable(frame.detail), {
    source,
    notAccepted: frame.notAccepted,
    status: frame.status >= 400 && frame.status <= 599 ? frame.status : undefined,
    retryAfterMs: frame.retryAfterMs > 0 ? frame.retryAfterMs : undefined,
    members
  })
}

function printable(text: string): string {
  return text.slice(0, FAILURE_DETAIL_CHARS_MAX).replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** Omits members that are too long or cannot be converted to JSON, so that the failure can always be sent. */
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
  // A peer may send more, and errors with offers are kept.
  if (json === '' || json.length > FAILURE_MEMBERS_CHARS_MAX) return undefined
  try {
    // `JSON.parse` reads deeper texts than `JSON.stringify` writes.
    return checkJson(utf8(json)) === 'object' ? (JSON.parse(json) as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
