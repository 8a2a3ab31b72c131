import type { CallToolResult } from '@modelcontextprotocol/server'
import { formatRequestId, formatUsdc, limits, nestsDeeperThan, type SoukError } from '../../lib/index.ts'
import type { CallReply, Clock } from '../../lib/interface/index.ts'
import { type Beginning, bodyBeginning } from '../body-beginning.ts'
import { problemOf } from '../http/problem-of.ts'
import type { OnProgress } from './agent.ts'
import { Progress } from './progress.ts'
import { splitterFor } from './stream-items.ts'
import { fits, type InputSchema, isObject } from './tool-schema.ts'

/** Prefix of a result’s metadata: the cost of the call and its timing. */
export const META = 'dev.souk/'

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.-]+\+)?xml\b|application\/(?:yaml|graphql|javascript)\b)/i

/**
 * Turns a response of an API into a result. JSON becomes structured content and text, images and audio stay such, other bytes become a
 * resource. An error of the API becomes an error result.
 * @param promised - the tool’s output schema
 * @param elapsedMs - the duration of the call so far
 * @param options - `signal` ends a stream; `onProgress` gets its items as they arrive
 */
export async function toolResult(
  reply: CallReply,
  promised: InputSchema | undefined,
  clock: Clock,
  elapsedMs: () => number,
  {
    signal,
    onProgress
  }: { readonly signal?: AbortSignal | undefined; readonly onProgress?: OnProgress | undefined } = {}
): Promise<CallToolResult> {
  const type = reply.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const split = onProgress && splitterFor(type)
  const progress = onProgress && split && new Progress(clock, split, onProgress)
  const taken = await bodyBeginning(reply.body, {
    bytesMax: limits.MCP_ANSWER_BYTES_MAX,
    ms: limits.MCP_STREAM_MS,
    clock,
    signal,
    onChunk: (chunk) => progress?.push(chunk)
  })
  await progress?.end()
  const meta = metaOf(reply, elapsedMs())
  if (reply.status >= 400) {
    const said = `The API responded with status ${reply.status}; ${formatUsdc(reply.charged)} USDC were charged.`
    return { isError: true, content: [text(said), ...contentOf(type, taken, reply)], _meta: meta }
  }
  const value = JSON_TYPE.test(type) && taken.cut === undefined ? parsed(taken.bytes) : undefined
  const content = contentOf(type, taken, reply)
  if (isRefusedQuery(value)) {
    const said = `The API refused the query; ${formatUsdc(reply.charged)} USDC were charged. Correct the query and call again.`
    return { isError: true, content: [text(said), ...content], _meta: meta }
  }
  if (promised !== undefined && (!isObject(value) || !fits(value, promised))) {
    const said = `${misfit(reply.status, taken)} ${formatUsdc(reply.charged)} USDC were charged. A repeat costs again.`
    return { isError: true, content: [text(said), ...content], _meta: meta }
  }
  return { content, ...(isObject(value) ? { structuredContent: value } : {}), _meta: meta }
}

/** Why a successful response has no structured content. Agents reject such a result unless it is an error. */
function misfit(status: number, { bytes, cut }: Beginning): string {
  if (cut !== undefined) return 'The call succeeded, but the response is incomplete.'
  if (bytes.length === 0) return `The call succeeded, with status ${status} and without content.`
  return 'The call succeeded, but the response does not match the output schema of the provider.'
}

/** A GraphQL response with errors and no data has status 200, so an agent could take it for a success. */
function isRefusedQuery(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value['errors']) || value['errors'].length === 0) return false
  return (value['data'] ?? null) === null && Object.keys(value).every((name) => GRAPHQL_MEMBERS.has(name))
}

/** https://spec.graphql.org/October2021/#sec-Response-Format */
const GRAPHQL_MEMBERS: ReadonlySet<string> = new Set(['data', 'errors', 'extensions'])

/** An error as a result: a problem document (RFC 9457) and advice. */
export function toolProblem(error: SoukError, requestId: string): CallToolResult {
  const problem = { ...problemOf(error, requestId), what_to_do: adviceFor(error) }
  const charged = problem.amount_charged ?? 'unknown'
  return { isError: true, content: [text(JSON.stringify(problem))], _meta: { [`${META}charged`]: charged } }
}

export function text(said: string) {
  return { type: 'text' as const, text: said }
}

const ADVICE: Readonly<Record<string, string>> = {
  api_not_found: 'Find the API with souk_search, and call it by its id.',
  api_paused: 'Use another API, or try this one later.',
  idempotency_mismatch: 'Repeat the first call unchanged, or give another call another idempotency_key.',
  insufficient_funds: 'Ask your user to top up the account. Until then, only free calls work.',
  invalid_request:
    'Correct the arguments to match the schema of the tool, or of the operation in souk_show, and call again.',
  key_not_permitted: 'The detail says what the key may not do. Use another API, or ask your user for another key.',
  name_conflict: 'Call it as name@provider, with one of the candidates.',
  operation_not_found: 'souk_show lists the operations of an API. Use a tool of the tool list.',
  price_exceeds_limit: 'Allow a higher max_price if the call is worth it and the key permits it, or use a cheaper API.',
  quota_exceeded: 'Do not call this API until the quota renews.',
  spend_cap_reached: 'Until resets_at, call only APIs that cost no more than the rest of the cap.',
  subscription_required: 'This API requires a subscription: souk_show lists its plans.',
  upstream_timeout: 'Try again, with a longer timeout_ms if you gave one.'
}

const MAY_HAVE_RUN =
  'The API may have run the call, and a repeat may run and cost again. If you gave an idempotency_key, repeat the same call with it. Otherwise find out first what the API did.'

function adviceFor({ code, retryable, isChargeUnknown }: SoukError): string {
  if (isChargeUnknown || code === 'call_interrupted') return MAY_HAVE_RUN
  return (
    ADVICE[code] ??
    (retryable ? 'Try again in a moment.' : 'The same call would fail again. Change it, or use another API.')
  )
}

function metaOf(reply: CallReply, ms: number): Record<string, unknown> {
  const { id, owner, requestId, status, price, charged, receipt, timing } = reply
  const facts = {
    api: id,
    owner,
    request_id: formatRequestId(requestId),
    status,
    price: formatUsdc(price),
    charged: formatUsdc(charged),
    ms: Math.round(ms),
    timing,
    ...(receipt.length === 0 ? {} : { receipt: Buffer.from(receipt).toString('base64url') })
  }
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [META + name, value]))
}

/** Names the part of a response that an agent gets. */
function partOf(cut: NonNullable<Beginning['cut']>, { body }: CallReply): string {
  if (cut === 'late') return 'the part of the stream that arrived in time'
  if (cut === 'broken') return 'the part before the response broke off'
  const all = body instanceof Uint8Array ? ` of ${body.length}` : ''
  return `the first ${limits.MCP_ANSWER_BYTES_MAX}${all} bytes`
}

function contentOf(type: string, { bytes, cut }: Beginning, reply: CallReply): CallToolResult['content'] {
  const isText = type === '' || JSON_TYPE.test(type) || TEXT_TYPE.test(type) || splitterFor(type) !== undefined
  if (isText) {
    const note = cut === undefined ? [] : [text(`[Cut off: this is ${partOf(cut, reply)}.]`)]
    return [text(bytes.toString()), ...note]
  }
  const mimeType = type.split(';', 1)[0]?.trim() ?? ''
  if (cut !== undefined) {
    const said = `${mimeType.slice(0, 100)}, too much for a result of a tool: ${partOf(cut, reply)} were read.`
    return [text(`[${said} Call it over HTTP.]`)]
  }
  const data = bytes.toString('base64')
  if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }]
  if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }]
  const uri = `souk:answer/${formatRequestId(reply.requestId)}`
  return [{ type: 'resource', resource: { uri, mimeType, blob: data } }]
}

/** Undefined if the bytes are not JSON, or nest too deep to serialize. The agent then gets only the text. */
function parsed(bytes: Buffer): unknown {
  if (nestsDeeperThan(bytes, limits.RESPONSE_JSON_DEPTH_MAX)) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
