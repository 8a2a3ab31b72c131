import type { ErrorCode, SoukError } from './errors.ts'

/** How one call went, as far as its API is concerned. */
export interface CallOutcomeSeen {
  readonly isGood: boolean
  /** Where it was answered. */
  readonly ms?: number
}

/** What says that an API, or who serves it, did not do its part. The rest is the caller's, or nobody's. */
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

/** An answer, as far as it says something of its API: a refusal of what was asked does not. */
export function seenAnswer(status: number, ms: number): CallOutcomeSeen | undefined {
  if (status >= 400 && status < 500) return undefined
  return { isGood: status < 400, ms }
}

/** An error, as far as it says something of the API. What went wrong on this side says nothing. */
export function seenError({ code, status, source }: SoukError): CallOutcomeSeen | undefined {
  if (source === 'ingress') return undefined
  const isFault = FAULTS.has(code) || (code === 'soap_fault' && status >= 500)
  return isFault ? { isGood: false } : undefined
}
