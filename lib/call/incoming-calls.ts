import { type ApiId, isApiName, isProviderId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { IN_FLIGHT_PER_PEER_MAX, LINK_QUEUE_BYTES_MAX, UPSTREAM_TIMEOUT_MS_MAX } from '../base/limits.ts'
import type { CallAnswer, CallHandler, IncomingCall } from '../interface/call.ts'
import type { BulkSource } from '../interface/link.ts'
import { pump, ridesInline } from './body.ts'
import { BULK_OF, type BulkMailbox, bulkTag } from './bulk-mailbox.ts'
import { failureFrame } from './failure.ts'
import type { RequestFrame } from './frame.ts'
import type { Session } from './session.ts'

const REQUEST_ID_BYTES = 16

type ReceivedCall = IncomingCall & { readonly body: Uint8Array | BulkSource }

/**
 * The server half of a session: the peer's calls that run here. When the channel ends they go on to their own deadline:
 * their outcome is kept and the consumer will ask for it. Bodies on their way end with their streams.
 */
export class IncomingCalls {
  readonly #session: Session
  readonly #mailbox: BulkMailbox
  readonly #clock: Clock
  readonly #handler: CallHandler
  readonly #running = new Map<number, AbortController>()

  constructor(session: Session, mailbox: BulkMailbox, clock: Clock, handler: CallHandler) {
    this.#session = session
    this.#mailbox = mailbox
    this.#clock = clock
    this.#handler = handler
  }

  get size(): number {
    return this.#running.size
  }

  onRequest(request: RequestFrame): void {
    const { channel } = this.#session
    if (this.#running.has(request.id)) {
      channel.abort(new Error('the peer used an id twice'))
    } else if (this.#running.size >= IN_FLIGHT_PER_PEER_MAX || channel.queuedBytes >= LINK_QUEUE_BYTES_MAX) {
      this.#fail(
        request.id,
        new SoukError('overloaded', 'Too many calls of yours are under way here.', { notAccepted: true })
      )
    } else {
      void this.#run(request)
    }
  }

  onCancel(id: number): void {
    this.#running.get(id)?.abort(new SoukError('call_interrupted', 'The consumer gave the call up.'))
  }

  async #run(request: RequestFrame): Promise<void> {
    const cancel = new AbortController()
    this.#running.set(request.id, cancel)
    const timeoutMs = Math.min(request.timeoutMs, UPSTREAM_TIMEOUT_MS_MAX)
    const timer = this.#clock.after(timeoutMs, () => cancel.abort(new SoukError('upstream_timeout')))
    let call: ReceivedCall | undefined
    try {
      call = await this.#read(request, timeoutMs)
      const answer = await this.#handler(call, cancel.signal)
      // From here on only the consumer ends it: a stream may well outlive the deadline of its head.
      timer.cancel()
      await this.#reply(request, answer, cancel)
    } catch (error) {
      this.#fail(request.id, asSoukError(error))
    } finally {
      timer.cancel()
      this.#running.delete(request.id)
      // Whatever of its body was not read is not wanted any more.
      if (call !== undefined && 'abort' in call.body) call.body.abort(new Error('the call is over'))
    }
  }

  async #read(request: RequestFrame, timeoutMs: number): Promise<ReceivedCall> {
    const at = request.api.indexOf('@')
    const isApiId = isApiName(request.api.slice(0, at)) && isProviderId(request.api.slice(at + 1))
    if (!isApiId || request.requestId.length !== REQUEST_ID_BYTES) {
      throw new SoukError('invalid_request', 'The call frame is malformed.')
    }
    const { peer } = this.#session.channel
    const { body: inline, maxPrice, authorization, idempotencyKey, traceparent, resentFromEpoch } = request
    const body: Uint8Array | BulkSource =
      inline ?? (await this.#mailbox.take(peer, bulkTag(request.requestId, BULK_OF.request)))
    return {
      peer,
      requestId: request.requestId,
      api: request.api as ApiId,
      method: request.method,
      path: request.path,
      headers: request.headers,
      body,
      timeoutMs,
      revision: request.revision,
      ...(maxPrice === undefined ? {} : { maxPrice }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(resentFromEpoch === undefined ? {} : { resentFromEpoch })
    }
  }

  async #reply(request: RequestFrame, answer: CallAnswer, cancel: AbortController): Promise<void> {
    const { channel } = this.#session
    const body = ridesInline(answer.body, channel) ? answer.body : undefined
    this.#session.send({
      kind: 'response',
      id: request.id,
      status: answer.status,
      headers: answer.headers,
      body,
      charged: answer.charged,
      receipt: answer.receipt,
      ownerUs: Math.round(answer.ownerMs * 1_000),
      upstreamUs: Math.round(answer.upstreamMs * 1_000)
    })
    if (body !== undefined) return
    try {
      const tag = bulkTag(request.requestId, BULK_OF.response)
      await pump(answer.body, await channel.openBulk(tag, cancel.signal))
    } catch (error) {
      // The head is out, so an error can only be told by the stream itself, which ends without its end. The adapter hears
      // of it by the signal, even where nobody had begun to read its body.
      cancel.abort(new SoukError('call_interrupted', undefined, { cause: error }))
    }
  }

  #fail(id: number, error: SoukError): void {
    this.#session.send({ kind: 'failure', ...failureFrame(id, error) })
  }
}
