import assert from 'node:assert/strict'
import { type ErrorCode, isSoukError } from '../../lib/base/errors.ts'
import type {
  Adapter,
  AdapterFactory,
  AdapterReply,
  AdapterRequest,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import type { Headers, Payload } from '../../lib/interface/payload.ts'
import type { Behaviour, ScriptedUpstream } from './scripted-upstream.ts'

/** One implementation under test, and the responses of a real upstream of its kind. */
export interface AdapterSubject {
  readonly factory: AdapterFactory
  /** Appended to the server's URL to form the endpoint. */
  readonly endpointPath: string
  /** Responds to every request of `inspect`. */
  readonly inspectable: Behaviour
  /** JSON body of a call that succeeds. */
  readonly call: unknown
  /** The upstream's response to it: 200, and small. */
  readonly answer: { readonly headers: Record<string, string>; readonly body: string }
  /** The consumer's response, parsed. */
  readonly reply: unknown
  /** A well-formed response body of about this many bytes, for tests of the size limit. */
  huge(bytes: number): Buffer
  /** True if responses are buffered, and rejected past `RESPONSE_BYTES_MAX`; otherwise large ones are streamed. */
  readonly holdsResponses: boolean
}

/** The maximum delay until a caller, and the upstream, learn that a call was aborted. */
export const PROMPT_MS = 1_000
export const FOREVER = new AbortController().signal

export async function bytesOf(payload: Payload): Promise<Buffer> {
  if (payload instanceof Uint8Array) return Buffer.from(payload)
  const chunks: Uint8Array[] = []
  for await (const chunk of payload) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function jsonOf(reply: AdapterReply): Promise<unknown> {
  return JSON.parse((await bytesOf(reply.body)).toString())
}

/** A plain call, as the owner's side passes it to an adapter. */
export function plainCall(body: unknown, headers: Headers = []): AdapterRequest {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  return { method: 'POST', path: '', headers: [['content-type', 'application/json'], ...headers], body: bytes }
}

/** Asserts one of `codes`, with a text that reveals nothing about this machine. */
export async function rejectsWith(promise: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert(isSoukError(error), `not a SoukError: ${String(error)}`)
    assert(codes.includes(error.code), `${error.code} (${error.message}) instead of ${codes.join(' or ')}`)
    assert.doesNotMatch(error.message, /ECONN|UND_ERR|node:|\bat .+:\d+:\d+|Error:/)
    return true
  })
}

/** The fixture of a contract test. */
export interface Bench {
  readonly subject: AdapterSubject
  readonly upstream: ScriptedUpstream
  readonly adapter: Adapter
  /** Another adapter for the same upstream, closed with the first. */
  open(config?: Partial<UpstreamConfig>): Adapter
  inspect(config?: Partial<UpstreamConfig>, signal?: AbortSignal): ReturnType<AdapterFactory['inspect']>
}
