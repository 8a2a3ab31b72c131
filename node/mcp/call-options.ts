import type { Headers } from '../../lib/interface/index.ts'
import type { ToolCall } from './agent.ts'
import { META } from './tool-result.ts'
import { isObject } from './tool-schema.ts'

/** Turns options in a request’s `_meta` into the equivalent HTTP headers. */
export function optionsIn(meta: ToolCall['meta']): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [member, header] of OPTIONS) {
    const value = meta[member]
    if (typeof value === 'string' || typeof value === 'number') headers[header] = String(value)
  }
  return headers
}

const OPTIONS = [
  ['traceparent', 'traceparent'],
  [`${META}idempotency_key`, 'idempotency-key'],
  [`${META}timeout_ms`, 'souk-timeout-ms'],
  [`${META}max_price`, 'souk-max-price']
] as const

/** Accepts a stream, but prefers JSON. */
export const STREAMED: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream;q=0.9']
]

/** A GraphQL subscription has no other response than a stream. */
export function isSubscription(body: unknown): boolean {
  return isObject(body) && typeof body['query'] === 'string' && /\bsubscription\b/.test(body['query'])
}
