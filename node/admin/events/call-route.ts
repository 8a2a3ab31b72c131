import { Readable } from 'node:stream'
import { z } from 'zod'
import { formatApiRef, formatUsdc, limits, parseUsdc, toProblem } from '../../../lib/index.ts'
import type { CallReply, Headers } from '../../../lib/interface/index.ts'
import type { CallDraft } from '../../call-draft.ts'
import { apisIn, checkParameters, operationsIn } from '../../mcp/selection.ts'
import { type CallEvent, callEventSchema, callSchema } from '../api.ts'
import { hasErrorsOnly } from '../../graphql-errors.ts'
import { shownError } from '../../http/shown-error.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'

const PLAIN: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'application/json']
]
const STREAMED: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'text/event-stream']
]

/** Calls from this machine. They need no consumer key, because the admin token identifies the operator. */
export const callRoutes = [
  route({
    method: 'POST',
    path: '/call',
    summary: 'Calls an API. This node pays.',
    body: callSchema,
    hasCallBody: true,
    response: callEventSchema.describe('lines of JSON: one head, any number of data lines, then end or error'),
    mediaType: 'application/x-ndjson',
    async handler({ call: send, subscriptions, clock }, { body: input, signal, request, reply }) {
      const startedAt = clock.elapsed()
      const call: CallDraft = {
        api: input.api,
        body: input.body,
        headers: input.stream === true ? STREAMED : PLAIN,
        signal,
        requestId: Buffer.from(request.id.replaceAll('-', ''), 'hex'),
        ...present({
          method: input.method,
          path: input.path,
          timeoutMs: input.timeout_ms,
          maxPrice: input.max_price,
          idempotencyKey: input.idempotency_key
        })
      }
      await subscriptions.boundCalls.bind(undefined, call)
      const answer = await send(call)
      return reply.send(Readable.from(lines(answer, request.id, clock.elapsed() - startedAt)))
    }
  }),
  route({
    method: 'POST',
    path: '/mcp',
    summary:
      'The Model Context Protocol, for agents of the operator. `?api=` selects the APIs, `?operation=` their operations, `?max_price=` limits the price of a call, `?daily_cap=` the cost of one day (UTC).',
    response: z.record(z.string(), z.unknown()).describe('JSON-RPC'),
    async handler({ agents, clock }, { request, reply }) {
      const { url = '' } = request.raw
      checkParameters(url, ['max_price', 'daily_cap'])
      const apis = apisIn(url).map(formatApiRef)
      const query = new URLSearchParams(url.split('?')[1] ?? '')
      const [asked, cap] = [query.get('max_price'), query.get('daily_cap')]
      const maxPrice = asked === null ? limits.CALL_PRICE_ATOMS_MAX : parseUsdc(asked)
      const capped = cap === null ? {} : { dailyCap: parseUsdc(cap) }
      const operations = operationsIn(url)
      const { market, answerAgent } = await agents()
      const agent = market.for({ apis, maxPrice, ...capped, isChosen: apis.length > 0, operations })
      reply.hijack()
      await answerAgent({ req: request.raw, res: reply.raw, headers: [], clock }, agent, request.body)
      return reply
    }
  })
] as const

async function* lines(answer: CallReply, requestId: string, ms: number): AsyncIterable<string> {
  yield line({
    type: 'head',
    request_id: requestId,
    api: answer.id,
    owner: answer.owner,
    status: answer.status,
    headers: answer.headers,
    price: formatUsdc(answer.price),
    charged: formatUsdc(answer.charged),
    ms,
    timing: answer.timing,
    has_errors_only: hasErrorsOnly(answer)
  })
  try {
    for await (const chunk of chunks(answer)) {
      yield line({ type: 'data', base64: Buffer.from(chunk).toString('base64') })
    }
    yield line({ type: 'end' })
  } catch (error) {
    yield line({ type: 'error', problem: toProblem(shownError(error), requestId, 'owner') })
  }
}

/** Splits large chunks, because client and server hold a whole line in memory. */
async function* chunks({ body }: CallReply): AsyncIterable<Uint8Array> {
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    for (let at = 0; at < chunk.length; at += limits.BULK_CHUNK_BYTES_MAX) {
      yield chunk.subarray(at, at + limits.BULK_CHUNK_BYTES_MAX)
    }
  }
}

function line(event: CallEvent): string {
  return `${JSON.stringify(event)}\n`
}
