import type { CallToolResult } from '@modelcontextprotocol/server'
import { formatRequestId, formatUsdc, limits, nestsDeeperThan, type SoukError, toProblem } from '../../lib/index.ts'
import type { CallReply, Clock } from '../../lib/interface/index.ts'
import { fits, type InputSchema, isObject } from './tool-schema.ts'

/** What goes with a result beside its content: what the call cost, and where its time went. */
export const META = 'dev.souk/'

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.-]+\+)?xml\b|application\/(?:yaml|graphql|javascript)\b)/i

/** As much of a response as an agent is given. */
interface Taken {
  readonly bytes: Buffer
  /** Undefined where it came whole. */
  readonly cut?: string
}

/**
 * A response of an API as a result: JSON as structured content and text, images and sounds as such, other bytes as a resource, what the API
 * refused as an error.
 *
 * @param promised - what the tool says of its responses
 * @param elapsedMs - the time of the call so far
 */
export async function toolResult(
  reply: CallReply,
  promised: InputSchema | undefined,
  clock: Clock,
  elapsedMs: () => number
): Promise<CallToolResult> {
  const type = reply.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const taken = await take(reply, clock)
  const meta = metaOf(reply, elapsedMs())
  if (reply.status >= 400) {
    const said = `The API answered ${reply.status}; ${formatUsdc(reply.charged)} USDC were charged.`
    return { isError: true, content: [text(said), ...contentOf(type, taken, reply)], _meta: meta }
  }
  const value = JSON_TYPE.test(type) && taken.cut === undefined ? parsed(taken.bytes) : undefined
  const content = contentOf(type, taken, reply)
  if (isRefusedQuery(value)) {
    const said = `The API did nothing; ${formatUsdc(reply.charged)} USDC were charged. Correct the query, and call again.`
    return { isError: true, content: [text(said), ...content], _meta: meta }
  }
  if (promised !== undefined && (!isObject(value) || !fits(value, promised))) {
    const said = 'This is not what the provider said its responses are like. '
    return {
      isError: true,
      content: [text(`${said}${formatUsdc(reply.charged)} USDC were charged.`), ...content],
      _meta: meta
    }
  }
  return { content, ...(isObject(value) ? { structuredContent: value } : {}), _meta: meta }
}

/** A GraphQL answer with errors and no data: it comes with 200, and an agent would take it for one. */
function isRefusedQuery(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value['errors']) || value['errors'].length === 0) return false
  return (value['data'] ?? null) === null && Object.keys(value).every((name) => GRAPHQL_MEMBERS.has(name))
}

/** https://spec.graphql.org/October2021/#sec-Response-Format */
const GRAPHQL_MEMBERS: ReadonlySet<string> = new Set(['data', 'errors', 'extensions'])

/** A refusal as a result: a problem document (RFC 9457) and what can be done about it. */
export function toolProblem(error: SoukError, requestId: string): CallToolResult {
  const problem = { ...toProblem(error, requestId), what_to_do: adviceFor(error.code, error.retryable) }
  const charged = problem.amount_charged ?? 'unknown'
  return { isError: true, content: [text(JSON.stringify(problem))], _meta: { [`${META}charged`]: charged } }
}

export function text(said: string) {
  return { type: 'text' as const, text: said }
}

const ADVICE: Readonly<Record<string, string>> = {
  api_not_found: 'Look for it with souk_search, and call it by the id that is found.',
  api_paused: 'Try another API, or this one later.',
  insufficient_funds: 'Ask whoever runs you to top up the account. Nothing that costs money can be called until then.',
  invalid_request:
    'Correct the arguments by the schema of the tool, or the one of the operation that souk_show tells, and call again.',
  key_not_permitted: 'This key may not call this API: use another one.',
  name_conflict: 'Call it as name@provider, with one of the candidates.',
  operation_not_found: 'souk_show tells the operations of an API, and the list of tools what tools there are.',
  price_exceeds_limit: 'Allow a higher max_price if it is worth that much and the key allows it, or use a cheaper API.',
  quota_exceeded: 'Stop calling this API until the quota is renewed.',
  spend_cap_reached: 'Stop calling what costs more than is left, until resets_at.',
  subscription_required: 'This API is only called with a subscription.'
}

function adviceFor(code: string, isRetryable: boolean): string {
  return (
    ADVICE[code] ??
    (isRetryable ? 'Call again in a moment.' : 'The same call will fail again: change it, or use another API.')
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

/** Reads a response to its end, to as much as is shown, or as long as is waited. What else there is, is given up at the API too. */
async function take({ body }: CallReply, clock: Clock): Promise<Taken> {
  const most = limits.MCP_ANSWER_BYTES_MAX
  if (body instanceof Uint8Array) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, most))
    return body.byteLength <= most ? { bytes } : { bytes, cut: `the first ${most} of ${body.byteLength} bytes` }
  }
  const chunks = body[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let received = 0
  const late = Promise.withResolvers<undefined>()
  const timer = clock.after(limits.MCP_STREAM_MS, () => late.resolve(undefined))
  try {
    for (;;) {
      const next = await Promise.race([chunks.next(), late.promise])
      if (next === undefined) return { bytes: Buffer.concat(parts), cut: 'what came in time of a stream' }
      if (next.done === true) return { bytes: Buffer.concat(parts) }
      parts.push(next.value)
      received += next.value.byteLength
      if (received > most) return { bytes: Buffer.concat(parts).subarray(0, most), cut: `the first ${most} bytes` }
    }
  } catch {
    return { bytes: Buffer.concat(parts), cut: 'what came before the response broke off' }
  } finally {
    timer.cancel()
    void chunks.return?.().catch(() => undefined)
  }
}

function contentOf(type: string, { bytes, cut }: Taken, { requestId }: CallReply): CallToolResult['content'] {
  const isText = type === '' || JSON_TYPE.test(type) || TEXT_TYPE.test(type)
  if (isText) {
    const note = cut === undefined ? [] : [text(`[Cut off: this is ${cut}.]`)]
    return [text(bytes.toString()), ...note]
  }
  const mimeType = type.split(';', 1)[0]?.trim() ?? ''
  if (cut !== undefined)
    return [text(`[${mimeType.slice(0, 100)}, too much for a result of a tool: ${cut} were read. Call it over HTTP.]`)]
  const data = bytes.toString('base64')
  if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }]
  if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }]
  return [{ type: 'resource', resource: { uri: `souk:answer/${formatRequestId(requestId)}`, mimeType, blob: data } }]
}

/** Undefined where it is not JSON, or nests too deep to be written again: its text is delivered all the same. */
function parsed(bytes: Buffer): unknown {
  if (nestsDeeperThan(bytes, limits.RESPONSE_JSON_DEPTH_MAX)) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
