import type { IncomingMessage } from 'node:http'
import { limits, SoukError, utf8 } from '../../../lib/index.ts'
import type { CallReply, Clock, Random, Souk } from '../../../lib/interface/index.ts'
import { admit, type CallRoute } from './call-route.ts'
import { type Answering, checkKey, serveCall } from './serve-call.ts'
import { hasBody } from './body.ts'
import { EventStream, type Operation } from './event-stream.ts'
import { eventsOf } from './events-of.ts'
import { sendProblem } from '../problem.ts'
import { sendReply } from './reply.ts'
import { readRef } from './request.ts'
import { sendWhole, type RequestContext } from '../request-context.ts'
import { whileConnected } from '../../http/while-connected.ts'

const TOKEN_HEADER = 'x-graphql-event-stream-token'

export interface EventStreamsInit {
  readonly route: CallRoute
  readonly souk: Pick<Souk, 'resolve'>
  readonly clock: Clock
  readonly random: Random
}

/**
 * "Single connection mode" of GraphQL over SSE: a client reserves a stream by PUT, reads it by GET, starts operations by POST and stops
 * them by DELETE. The API sees each operation as an ordinary paid call.
 */
export class EventStreams {
  readonly #init: EventStreamsInit
  readonly #streams = new Map<string, EventStream>()

  constructor(init: EventStreamsInit) {
    this.#init = init
  }

  /** A cheap test that excludes nearly all other requests. */
  static mayServe({ method, headers, url }: IncomingMessage): boolean {
    return method === 'PUT' || headers[TOKEN_HEADER] !== undefined || url?.includes('token=') === true
  }

  /** @returns false if the request is not about an event stream; it has no response then */
  async serve(context: RequestContext, scope: string, name: string): Promise<boolean> {
    const { req } = context
    const url = URL.parse(req.url ?? '', 'http://localhost')
    if (req.method === 'PUT') return isReservation(req, url) && this.#reserve(context, scope, name)
    const token = req.headers[TOKEN_HEADER] ?? url?.searchParams.get('token') ?? ''
    const stream = this.#streams.get(String(token))
    if (stream === undefined) {
      if (req.headers[TOKEN_HEADER] === undefined) return false
      refuse(context, 404, 'Stream not found')
    } else if (req.method === 'GET') {
      if (stream.isOpen) refuse(context, 409, 'Stream already open')
      else stream.open(context)
    } else if (req.method === 'DELETE') {
      if (await this.#isOwn(context, stream)) this.#stop(context, stream, url?.searchParams.get('operationId') ?? '')
    } else if (req.method === 'POST') {
      if (await this.#isOwn(context, stream)) await this.#run(context, stream, scope, name)
    } else {
      return false
    }
    return true
  }

  async #reserve(context: RequestContext, scope: string, name: string): Promise<boolean> {
    const { req, res } = context
    const { souk, route, clock, random } = this.#init
    if (req.headers['x-consumer-key'] === undefined) return false
    try {
      const holder = await checkKey(route.keys, req.headers['x-consumer-key'])
      const { signed } = await souk.resolve(admit(route, context, holder, readRef(scope, name)), {
        signal: whileConnected(res)
      })
      if (signed.manifest.protocol !== 'GraphQL') return false
      const own = [...this.#streams.values()].filter((stream) => stream.holder === holder.id)
      if (own.length >= limits.EVENT_STREAMS_PER_KEY_MAX || this.#streams.size >= limits.EVENT_STREAMS_MAX) {
        throw new SoukError('overloaded', 'Too many event streams are open.')
      }
      // The token alone grants access: a browser’s EventSource cannot send a key.
      const token = Buffer.from(random.fill(new Uint8Array(32))).toString('base64url')
      const onOver = () => void this.#streams.delete(token)
      this.#streams.set(token, new EventStream({ clock, holder: holder.id, onOver }))
      sendWhole(context, 201, ['Content-Type', 'text/plain; charset=utf-8'], utf8(token))
    } catch (error) {
      if (!res.destroyed) sendProblem(context, error)
    }
    return true
  }

  /** Returns false after sending a problem document if the key did not reserve this stream. */
  async #isOwn(context: RequestContext, { holder }: EventStream): Promise<boolean> {
    try {
      if ((await checkKey(this.#init.route.keys, context.req.headers['x-consumer-key'])).id === holder) return true
      refuse(context, 404, 'Stream not found')
    } catch (error) {
      sendProblem(context, error)
    }
    return false
  }

  #stop(context: RequestContext, stream: EventStream, id: string): void {
    if (id === '') return refuse(context, 400, 'Operation ID is missing')
    stream.stop(id)
    sendWhole(context, 200, [], new Uint8Array(0))
  }

  async #run(context: RequestContext, stream: EventStream, scope: string, name: string): Promise<void> {
    let operation: Operation | undefined
    const answering: Answering = {
      shape(call) {
        const asked = operationIn(call.body)
        if (asked === undefined) return refuse(context, 400, 'Operation ID is missing')
        operation = stream.reserve(asked)
        if (operation === undefined) return refuse(context, 409, 'Operation with ID already exists')
        call.path = ''
        call.headers = [...(call.headers ?? []).filter(([name]) => name !== 'accept'), ['accept', 'text/event-stream']]
      },
      // `shape` reserved the operation.
      answer: (reply, settle) => accepted(context, stream, operation as Operation, reply, settle)
    }
    await serveCall(this.#init.route, context, scope, name, answering)
    if (operation !== undefined) stream.forget(operation)
  }
}

function isReservation(req: IncomingMessage, url: URL | null): boolean {
  return !hasBody(req) && url !== null && /^\/api\/[^/]+\/api\/[^/]+$/.test(url.pathname)
}

/** Accepts an operation and sends its results to the stream. A response that is not an event stream is sent as the response itself. */
async function accepted(
  context: RequestContext,
  stream: EventStream,
  operation: Operation,
  reply: CallReply,
  settle: () => void | Promise<void>
): Promise<void> {
  const events = eventsOf(reply)
  if (events === undefined) return sendReply(context, reply, { settle })
  try {
    await sendReply(context, { ...reply, status: 202, headers: [], body: new Uint8Array(0) }, { settle })
  } catch (error) {
    stream.forget(operation)
    throw error
  } finally {
    stream.follow(operation, events)
  }
}

function operationIn(body: unknown): string | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  // `checkJsonBody` made sure that this is a JSON object.
  const { extensions } = JSON.parse(Buffer.from(body).toString()) as { extensions?: { operationId?: unknown } | null }
  const id = extensions?.operationId
  return typeof id === 'string' && id !== '' && id.length <= limits.IDEMPOTENCY_KEY_CHARS_MAX ? id : undefined
}

/** Uses the error format of graphql-sse’s server. */
function refuse(context: RequestContext, status: number, message: string): void {
  const body = utf8(JSON.stringify({ errors: [{ message }] }))
  sendWhole(context, status, ['Content-Type', 'application/json; charset=utf-8'], body)
}
