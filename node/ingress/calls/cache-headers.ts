import type { Headers } from '../../../lib/interface/index.ts'

/** Directives that a private cache understands (RFC 9111 §5.2.2). */
const KEPT =
  /^(no-cache|no-store|no-transform|must-revalidate|immutable)\b|^(max-age|stale-while-revalidate|stale-if-error)=\d{1,10}$/

const VARY = ['Vary', 'X-Consumer-Key, Payment-Signature, Authorization']
const PRIVATE: readonly string[] = ['Cache-Control', 'private', ...VARY]

/**
 * The cache rules of a call's response: those of the API, for the caller's own cache. A shared cache would give the response to callers who
 * have not paid: of all headers, it respects only `Authorization` by itself (RFC 9111 §3.5).
 */
export function cacheHeaders(headers: Headers): readonly string[] {
  const given = headers.filter(([name]) => name.toLowerCase() === 'cache-control')
  if (given.length === 0) return PRIVATE
  const rules = new Map([['private', 'private']])
  for (const [, value] of given) {
    for (const directive of value.toLowerCase().split(',')) {
      const [rule, plain, timed] = KEPT.exec(directive.trim()) ?? []
      const kept = plain ?? timed
      if (rule !== undefined && kept !== undefined && !rules.has(kept)) rules.set(kept, rule)
    }
  }
  return ['Cache-Control', [...rules.values()].join(', '), ...VARY]
}
