import { text, utf8 } from '../base/bytes.ts'
import { collect } from '../base/collect.ts'
import { SoukError } from '../base/errors.ts'
import { checkJson } from '../base/json-text.ts'
import { REQUEST_BYTES_CEILING } from '../base/limits/call.ts'
import { malformed } from '../base/malformed.ts'
import { writeJson } from '../base/write-json.ts'
import type { Adapter, AdapterRequest, Operation } from '../interface/adapter.ts'
import type { Headers } from '../interface/payload.ts'

export interface HandlerInput {
  /** The parsed JSON body; undefined for an empty body. */
  readonly body: unknown
  readonly method: string
  /** Sub-path and query. */
  readonly path: string
  readonly headers: Headers
  /** Aborts when the consumer cancels or the deadline passes. */
  readonly signal: AbortSignal
}

/**
 * Returns any JSON value as the response, `null` if it returns nothing. A Map, a generator or another value that JSON cannot
 * hold becomes `upstream_invalid_response`. A thrown SoukError is returned to the caller; any other error becomes
 * `internal_error`.
 */
export type Handler = (input: HandlerInput) => unknown

const JSON_HEADERS: Headers = [['content-type', 'application/json']]

/**
 * An API implemented in code, without an upstream: `souk.serve({ name, price }, handler(({ body }) => …))`. It is
 * listed as REST. Every response counts as a success.
 *
 * @param operations operations in the manifest; default: one operation `call` that takes any JSON.
 *
 * @example
 * ```ts
 * import { createNode, handler } from 'souk'
 *
 * const node = await createNode()
 * await node.start()
 * const shout = handler(({ body, path }) => ({ loud: String(body).toUpperCase(), path }))
 * await node.souk.serve({ name: 'shout', price: '0', forwardsPaths: true }, shout)
 * const reply = await node.souk.call({ api: 'shout', path: '/now', body: 'hello' })
 * console.log(await reply.json()) // { loud: 'HELLO', path: '/now' }
 * await node.stop()
 * ```
 */
export function handler(
  handle: Handler,
  operations: readonly Operation[] = [{ name: 'call', description: 'Takes any JSON.' }]
): Adapter {
  if (typeof handle !== 'function') throw malformed('handle', 'A handler must be a function.')
  return {
    protocol: 'REST',
    description: { operations },
    async call({ method, path, headers, body, memory }: AdapterRequest, signal: AbortSignal) {
      const input = parse(await collect(body, REQUEST_BYTES_CEILING, () => new SoukError('request_too_large'), memory))
      const output = await handle({ body: input, method, path, headers, signal })
      const written = writeJson(output)
      if ('reason' in written) throw notJson(written.reason)
      return { status: 200, headers: JSON_HEADERS, body: utf8(written.json), success: true, upstreamMs: 0 }
    }
  }
}

function notJson(reason: string): SoukError {
  const text = `The response of this API's handler cannot be sent as JSON: ${reason}`
  return new SoukError('upstream_invalid_response', text, { source: 'upstream' })
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  checkJson(bytes)
  return JSON.parse(text(bytes))
}
