import type { ErrorCode, SoukError } from './errors.ts'

/** The result of one call, used for the API's quality score. */
export interface CallOutcomeSeen {
  readonly isGood: boolean
  /** Milliseconds to the response. Absent without a response. */
  readonly ms?: number
}

/** Error codes that count against the API or its owners. Other codes are errors of the caller or neutral. */
const FAULTS: ReadonlySet<ErrorCode> = new Set([
  'owner_unreachable',
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_invalid_response',
  'response_too_large',
  'call_interrupted',
  'overloaded',
  'internal_error'
])

/** The result of a response. Undefined for 4xx, which is an error of the caller. */
export function seenResponse(status: number, ms: number): CallOutcomeSeen | undefined {
  if (status >= 400 && status < 500) return undefined
  return { isGood: status < 400, ms }
}

/** The result of an error. Undefined where the error says nothing about the API, such as an error of the ingress. */
export function seenError({ code, status, source }: SoukError): CallOutcomeSeen | undefined {
  if (source === 'ingress') return undefined
  const isFault = FAULTS.has(code) || (code === 'soap_fault' && status >= 500)
  return isFault ? { isGood: false } : undefined
}
