import type { IncomingMessage } from 'node:http'
import type { RawData, WebSocket } from 'ws'
import { asSoukError, limits, parseExactly, rawNumber, SoukError, utf8 } from '../../../lib/index.ts'
import type { ApiRef, CallReply, Clock } from '../../../lib/interface/index.ts'
import { sseResults } from '../../../protocols/graphql/sse-results.ts'
import type { CallDraft } from '../../call-draft.ts'
import { errorOf } from './batch.ts'
import { eventsOf } from './events-of.ts'
import { callWithKey } from './key-call.ts'
import { discard } from './reply.ts'
import { readOptions } from './request.ts'
import { admit, type CallRoute } from './call-route.ts'
import { checkKey } from './serve-call.ts'

export interface GraphqlSocketInit {
  readonly ws: WebSocket
  readonly req: IncomingMessage
  readonly route: CallRoute
  readonly clock: Clock
  /** @throws SoukError if the URL names no GraphQL API */
  readonly api: () => Promise<ApiRef>
  /** Whether the key may have one more connection. */
  readonly mayOpen: (holder: string) => boolean
}

interface Message {
  readonly id?: unknown
  readonly type?: unknown
  readonly payload?: unknown
}

/**
 * One connection of "GraphQL over WebSocket" (`graphql-transport-ws`, the protocol of graphql-ws). The payload of `connection_init`
 * has the key; its other members count as request headers. Each operation is an ordinary paid call.
 */
export class GraphqlSocket {
  readonly #init: GraphqlSocketInit
  readonly #operations = new Map<string, AbortController>()
  #state: 'new' | 'checking' | 'ready' | 'over' = 'new'
  #headers: IncomingMessage['headers'] = {}
  #api: ApiRef | undefined
  #isAlive = true
  #isDraining = false
  /** Id of the key, once it was checked. */
  holder: string | undefined

  constructor(init: GraphqlSocketInit) {
    this.#init = init
    const { ws, clock } = init
    ws.on('message', (data) => this.#receive(data))
    ws.on('pong', () => (this.#isAlive = true))
    // A broken connection closes as well.
    ws.on('error', () => {})
    ws.once('close', () => this.#end())
    clock.after(limits.GRAPHQL_SOCKET_INIT_MS, () => {
      if (this.#state === 'new') ws.close(4408, 'Connection initialisation timeout')
    })
    this.#beat()
  }

  /** Takes no further operation, and closes after the last one. */
  drain(): void {
    this.#isDraining = true
    if (this.#operations.size === 0) this.#init.ws.close(1012, 'The node is shutting down')
  }

  #receive(data: RawData): void {
    const { ws } = this.#init
    const message = messageIn(data)
    if (message === undefined) return ws.close(4400, 'Invalid message')
    switch (message.type) {
      case 'connection_init':
        if (this.#state !== 'new') return ws.close(4429, 'Too many initialisation requests')
        return void this.#open(message.payload)
      case 'ping':
        return this.#isFull() ? ws.terminate() : ws.send('{"type":"pong"}')
      case 'pong':
        return
      case 'subscribe':
        return this.#subscribe(message)
      case 'complete':
        return this.#operations.get(String(message.id))?.abort(STOPPED)
      default:
        return ws.close(4400, 'Invalid message')
    }
  }

  async #open(payload: unknown): Promise<void> {
    const { ws, req, route, api, mayOpen } = this.#init
    this.#state = 'checking'
    this.#headers = { ...req.headers, ...headersIn(payload) }
    delete this.#headers['idempotency-key']
    try {
      const { id } = await this.#holder()
      this.#api = await api()
      if (!mayOpen(id)) throw new SoukError('overloaded', 'Too many WebSockets are open with this key.')
      this.holder = id
    } catch (error) {
      const { code, status } = asSoukError(error)
      if (status === 401) countStranger(route, req)
      return ws.close(status === 401 || status === 403 ? 4403 : 4400, code)
    }
    this.#state = 'ready'
    await this.#send('{"type":"connection_ack"}')
  }

  /** The key is checked for each operation, because it may have been revoked meanwhile. */
  #holder() {
    return checkKey(this.#init.route.keys, this.#headers['x-consumer-key'])
  }

  #subscribe({ id, payload }: Message): void {
    const { ws } = this.#init
    if (this.#state !== 'ready') return ws.close(4401, 'Unauthorized')
    const isValid = typeof id === 'string' && id !== '' && id.length <= limits.IDEMPOTENCY_KEY_CHARS_MAX
    if (!isValid || typeof payload !== 'object' || payload === null) return ws.close(4400, 'Invalid message')
    if (this.#operations.has(id)) return ws.close(4409, `Subscriber for ${id} already exists`.slice(0, CLOSE_CHARS_MAX))
    if (this.#isDraining || this.#operations.size >= limits.EVENT_STREAM_OPERATIONS_MAX) {
      return void this.#fail(id, new SoukError('overloaded', 'This connection takes no further operation now.'))
    }
    void this.#run(id, utf8(JSON.stringify(payload)))
  }

  async #run(id: string, body: Uint8Array): Promise<void> {
    const { req, route } = this.#init
    const stop = new AbortController()
    this.#operations.set(id, stop)
    let held: ReturnType<CallRoute['bodies']['hold']> | undefined
    try {
      const holder = await this.#holder()
      held = route.bodies.hold(req, holder)
      held.take(body.length)
      const api = admit(route, { req }, holder, this.#api as ApiRef)
      await callWithKey(route, holder, this.#draft(api, body, stop.signal), async (reply, settle) => {
        await settle()
        await this.#follow(id, reply, stop.signal)
      })
    } catch (error) {
      if (!stop.signal.aborted) await this.#fail(id, error)
    } finally {
      held?.free()
      if (this.#operations.get(id) === stop) this.#operations.delete(id)
      if (this.#isDraining) this.drain()
    }
  }

  #draft(api: ApiRef, body: Uint8Array, signal: AbortSignal): CallDraft {
    const language = this.#headers['accept-language']
    const call: CallDraft = {
      api,
      body,
      method: 'POST',
      path: '',
      headers: [
        ['content-type', 'application/json'],
        ['accept', 'text/event-stream'],
        ...(language === undefined ? [] : [['accept-language', language] as const])
      ],
      offeredHeaders: Object.entries(this.#headers).flatMap(([name, value]) =>
        typeof value === 'string' && name !== 'accept-language' ? [[name, value] as const] : []
      ),
      signal
    }
    readOptions(call, this.#headers)
    return call
  }

  /** Sends the results of an operation, as fast as the client reads them. */
  async #follow(id: string, reply: CallReply, signal: AbortSignal): Promise<void> {
    const { status, body } = reply
    const events = eventsOf(reply)
    if (events === undefined) {
      const result = body instanceof Uint8Array ? resultIn(Buffer.from(body).toString()) : undefined
      discard(body)
      return this.#error(id, result?.errors ?? [{ message: `The API responded with HTTP ${status}.` }])
    }
    const results = sseResults(events)
    const stop = () => void results.return?.().catch(() => undefined)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    const name = JSON.stringify(id)
    try {
      let next = await results.next()
      // An operation that the API did not run has errors only.
      const result = next.done === true ? undefined : resultIn(next.value)
      if (result?.errors !== undefined && result.data === undefined) return await this.#error(id, result.errors)
      for (; next.done !== true && !signal.aborted; next = await results.next()) {
        await this.#send(`{"id":${name},"type":"next","payload":${next.value}}`)
      }
    } catch {
      // The API or its provider broke off, and no more detail is known.
      if (!signal.aborted) await this.#error(id, [{ message: 'The API ended the operation early.' }])
      return
    } finally {
      stop()
    }
    if (!signal.aborted) await this.#send(`{"id":${name},"type":"complete"}`)
  }

  #fail(id: string, error: unknown): Promise<void> {
    return this.#error(id, [errorOf(error)])
  }

  #error(id: string, payload: readonly unknown[]): Promise<void> {
    return this.#send(JSON.stringify({ id, type: 'error', payload }))
  }

  /** Resolves when the message is on its way. Disconnects a client that does not read. */
  async #send(text: string): Promise<void> {
    const { ws, clock } = this.#init
    if (ws.readyState !== ws.OPEN) return
    if (this.#isFull()) return ws.terminate()
    const stalled = clock.after(limits.READER_STALL_MS, () => ws.terminate())
    await new Promise<void>((resolve) => ws.send(text, () => resolve()))
    stalled.cancel()
  }

  /** Operations wait for the client to read. Only pongs and errors do not, so a client can ask for more than it reads. */
  #isFull(): boolean {
    return this.#init.ws.bufferedAmount > limits.GRAPHQL_SOCKET_UNREAD_BYTES_MAX
  }

  #beat(): void {
    this.#init.clock.after(limits.EVENTS_HEARTBEAT_MS, () => {
      if (this.#state === 'over') return
      if (!this.#isAlive) return this.#init.ws.terminate()
      this.#isAlive = false
      this.#init.ws.ping()
      this.#beat()
    })
  }

  #end(): void {
    this.#state = 'over'
    for (const operation of this.#operations.values()) operation.abort(STOPPED)
  }
}

const STOPPED = new SoukError('call_interrupted', 'The client stopped the operation.')
/** RFC 6455 §5.5: a close frame has at most 125 bytes, two of them the code. */
const CLOSE_CHARS_MAX = 100

/** A message arrives as one buffer, which is the default of `ws`. */
function text(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : ''
}

/** Numbers keep their original digits. */
function messageIn(data: RawData): Message | undefined {
  try {
    const message = parseExactly(text(data), rawNumber)
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined
  } catch {
    return undefined
  }
}

function headersIn(payload: unknown): Record<string, string> {
  const members = typeof payload === 'object' && payload !== null ? Object.entries(payload) : []
  return Object.fromEntries(
    members.flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value] as const] : []))
  )
}

/** Data and errors of a result; undefined if it is not one. */
function resultIn(text: string): { readonly data: unknown; readonly errors: unknown[] | undefined } | undefined {
  try {
    const { data, errors } = JSON.parse(text) as { readonly data?: unknown; readonly errors?: unknown }
    return { data, errors: Array.isArray(errors) && errors.length > 0 ? errors : undefined }
  } catch {
    return undefined
  }
}

/** Counts against the host, as an invalid key of a request does. */
function countStranger({ unauthenticated }: CallRoute, req: IncomingMessage): void {
  try {
    unauthenticated.count(req)
  } catch {
    // The connection closes in any case.
  }
}
