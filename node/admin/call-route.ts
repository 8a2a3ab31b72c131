import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { asSoukError, formatUsdc, limits, toProblem } from '../../lib/index.ts'
import type { CallReply, Headers } from '../../lib/interface/index.ts'
import { type CallEvent, callSchema } from './api.ts'
import { watchedCall } from '../events/watch-calls.ts'
import type { CallDraft } from '../ingress/request.ts'
import { whileConnected } from '../ingress/visit.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import type { AdminInit } from './admin-init.ts'

const PLAIN: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'application/json']
]
const STREAMED: Headers = [
  ['content-type', 'application/json'],
  ['accept', 'text/event-stream']
]

/** A call from this machine, without a consumer key: the token stands for its owner. */
export function callRoute(app: FastifyInstance, init: AdminInit): void {
  const { souk, calls, captures, subscriptions, clock, events } = init
  const send = watchedCall(souk, { feed: calls, captures, clock, events })
  app.post('/call', async (request, reply) => {
    const input = parse(callSchema, request.body)
    const startedAt = clock.elapsed()
    const call: CallDraft = {
      api: input.api,
      body: input.body,
      headers: input.stream === true ? STREAMED : PLAIN,
      signal: whileConnected(reply.raw),
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
    const ms = clock.elapsed() - startedAt
    return reply.type('application/x-ndjson').send(Readable.from(lines(answer, request.id, ms)))
  })
}

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
    timing: answer.timing
  })
  try {
    for await (const chunk of chunks(answer)) {
      yield line({ type: 'data', base64: Buffer.from(chunk).toString('base64') })
    }
    yield line({ type: 'end' })
  } catch (error) {
    yield line({ type: 'error', problem: toProblem(asSoukError(error), requestId, 'owner') })
  }
}

/** In pieces of a size that both ends can hold as one line. */
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
