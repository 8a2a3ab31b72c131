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

/** One implementation under test, and what a real upstream of its kind says. */
export interface AdapterSubject {
  readonly factory: AdapterFactory
  /** What follows the server's URL in the endpoint. */
  readonly endpointPath: string
  /** Answers whatever `inspect` asks. */
  readonly inspectable: Behaviour
  /** JSON body of a call that works. */
  readonly call: unknown
  /** The upstream's answer to it: 200, and small. */
  readonly answer: { readonly headers: Record<string, string>; readonly body: string }
  /** What the consumer gets of it, parsed. */
  readonly reply: unknown
  /** An answer's body of about this many bytes that is well-formed for the protocol, to see what is too large. */
  huge(bytes: number): Buffer
  /** Answers are held whole, and refused past `RESPONSE_BYTES_MAX`; otherwise large ones are streamed. */
  readonly holdsAnswers: boolean
}

/** How soon a caller, and the upstream, must know that a call was given up. */
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

/** A plain call, as the owner's side hands it to an adapter. */
export function plainCall(body: unknown, headers: Headers = []): AdapterRequest {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  return { method: 'POST', path: '', headers: [['content-type', 'application/json'], ...headers], body: bytes }
}

/** Any of `codes`, with a text that tells nothing of the machine it comes from. */
export async function rejectsWith(promise: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert(isSoukError(error), `not a SoukError: ${String(error)}`)
    assert(codes.includes(error.code), `${error.code} (${error.message}) instead of ${codes.join(' or ')}`)
    assert.doesNotMatch(error.message, /ECONN|UND_ERR|node:|\bat .+:\d+:\d+|Error:/)
    return true
  })
}

/** What a test of the contract works with. */
export interface Bench {
  readonly subject: AdapterSubject
  readonly upstream: ScriptedUpstream
  readonly adapter: Adapter
  /** Another adapter to the same upstream, closed with the first. */
  open(config?: Partial<UpstreamConfig>): Adapter
  inspect(config?: Partial<UpstreamConfig>, signal?: AbortSignal): ReturnType<AdapterFactory['inspect']>
}
