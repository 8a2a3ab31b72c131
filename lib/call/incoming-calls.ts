import { pipe } from 'it-pipe'
import { isApiName, isProviderId } from '../base/api-name.ts'
import { isCallPath, isIdempotencyKey, isMethod } from '../base/call-fields.ts'
import type { Clock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { IN_FLIGHT_PER_PEER_MAX, OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { CONSUMER_BYTES, DEADLINE_MS_MIN, PAYMENT_CHARS_MAX, UPSTREAM_TIMEOUT_MS_MAX } from '../base/limits/call.ts'
import { LINK_QUEUE_BYTES_MAX, UNSENT_BYTES_MAX, UNSENT_PER_PEER_BYTES_MAX } from '../base/limits/link.ts'
import { PassingMap } from '../base/passing-map.ts'
import { isRequestIdBytes, REQUEST_ID_BYTES } from '../base/request-id.ts'
import { type CallResponse, type CallHandler, type IncomingCall, SUBSCRIPTION_SERVICE } from '../interface/call.ts'
import type { RequestFrame } from '../interface/call-messages.ts'
import { CALL_ENDED, chunksOf, type RequestBody, requestBody, ridesInline, sendTo } from './body.ts'
import { BULK_OF, type BulkMailbox, bulkTag } from './bulk-mailbox.ts'
import { failureFrame } from './failure.ts'
import type { Frame } from './frame.ts'
import type { Session } from './session.ts'

interface ReceivedCall extends IncomingCall {
  readonly body: Uint8Array | RequestBody
}

/** Bytes of whole responses on their own streams, to all peers. */
export interface Unsent {
  bytes: number
}

interface RunningCall {
  readonly cancel: AbortController
  /** Undefined until its body's stream is open. */
  call: ReceivedCall | undefined
  /** As in `CallResponse`. */
  free: CallResponse['free']
}

/**
 * The server half of a session: the peer's calls that run here. When the channel closes, they continue until their
 * deadline, because the consumer will query the stored outcome. Streamed bodies end with their streams.
 */
export class IncomingCalls {
  readonly #session: Session
  readonly #mailbox: BulkMailbox
  readonly #clock: Clock
  readonly #handler: CallHandler
  readonly #running = new PassingMap<number, RunningCall>()
  readonly #deadlines: Deadlines<number>
  /** Highest call id of the peer on this channel. */
  #lastId = 0
  /** Calls whose response is being sent on its own stream. */
  readonly #streaming = new Set<AbortController>()
  #idle: PromiseWithResolvers<void> | undefined
  #isDrained = false
  readonly #unsentToAll: Unsent
  /** The part of these bytes that is for this peer, held until the peer has read it. */
  #unsentBytes = 0
  /** Responses sent on this channel that the peer has not acknowledged. */
  #unacknowledged = 0

  constructor(session: Session, mailbox: BulkMailbox, clock: Clock, handler: CallHandler, unsentToAll: Unsent) {
    this.#unsentToAll = unsentToAll
    this.#session = session
    this.#mailbox = mailbox
    this.#clock = clock
    this.#handler = handler
    this.#deadlines = new Deadlines(clock, (id) => this.#onLate(id))
  }

  get size(): number {
    return this.#running.size
  }

  /**
   * Tells the peer to send new calls elsewhere. When no call is running, and the last response was sent as a whole, it tells
   * the peer again and refuses further calls. So the peer knows that a call without a response did not run: the peer may
   * have sent it before it was told.
   */
  async drain(): Promise<void> {
    this.#session.send({ kind: 'drain' })
    while (this.size > 0) await (this.#idle ??= Promise.withResolvers()).promise
    this.#session.send({ kind: 'drain' })
    this.#isDrained = true
  }

  onRequest(request: RequestFrame): void {
    const { channel } = this.#session
    if (request.id <= this.#lastId) {
      channel.abort(new Error('the call ids of the peer do not increase'))
      return
    }
    this.#lastId = request.id
    if (this.#isDrained) {
      this.#fail(request.id, new SoukError('overloaded', 'This node is stopping.', { notAccepted: true }))
    } else if (this.#isFull(channel)) {
      this.#fail(
        request.id,
        new SoukError('overloaded', 'You have too many running calls at this owner. Wait until some of them end.', {
          notAccepted: true,
          retryAfterMs: OVERLOAD_PAUSE_MS
        })
      )
    } else {
      void this.#run(request)
    }
  }

  #isFull({ queuedBytes }: Session['channel']): boolean {
    return (
      this.#running.size >= IN_FLIGHT_PER_PEER_MAX ||
      queuedBytes >= LINK_QUEUE_BYTES_MAX ||
      this.#unsentBytes >= UNSENT_PER_PEER_BYTES_MAX ||
      (this.#unsentBytes > 0 && this.#unsentToAll.bytes >= UNSENT_BYTES_MAX)
    )
  }

  onCancel(id: number): void {
    this.#running.get(id)?.cancel.abort(new SoukError('call_interrupted', 'The consumer cancelled the call.'))
  }

  /**
   * The ids of an acknowledgement, at most one for each response. Others are of no response, and each would cost a read of
   * the books.
   */
  acknowledged(requestIds: readonly Uint8Array[]): readonly Uint8Array[] {
    const counted = requestIds.slice(0, this.#unacknowledged)
    this.#unacknowledged -= counted.length
    return counted
  }

  /** Cancels streamed responses, which have lost their reader. Other calls continue. */
  onClose(): void {
    for (const cancel of this.#streaming)
      cancel.abort(new SoukError('call_interrupted', 'The link to the consumer broke.'))
    this.#deadlines.retire()
  }

  /** An async function keeps each of its variables in memory while it waits, so this one has few. */
  async #run(request: RequestFrame): Promise<void> {
    const running: RunningCall = { cancel: new AbortController(), call: undefined, free: undefined }
    this.#running.set(request.id, running)
    this.#deadlines.add(request.id, timeoutOf(request))
    try {
      const answer = await this.#answer(request, running)
      running.free = answer.free
      // From now on only the consumer ends the call: a stream may outlive the deadline of its head.
      this.#deadlines.delete(request.id)
      if (!this.#reply(request.id, answer)) await this.#stream(request.requestId, answer.body, running.cancel)
    } catch (thrown) {
      this.#onError(request.id, running, asSoukError(thrown))
    } finally {
      this.#deadlines.delete(request.id)
      this.#running.delete(request.id)
      running.free?.()
      // Cancels the unread rest of the body.
      if (running.call !== undefined && 'abort' in running.call.body) running.call.body.abort(CALL_ENDED)
      if (this.size === 0) this.#tellIdle()
    }
  }

  #tellIdle(): void {
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** @throws SoukError */
  #answer(request: RequestFrame, running: RunningCall): Promise<CallResponse> {
    checkRequest(request)
    return request.body === undefined
      ? this.#answerStreamed(request, running)
      : this.#handle(request, running, request.body)
  }

  async #answerStreamed(request: RequestFrame, running: RunningCall): Promise<CallResponse> {
    return this.#handle(request, running, await this.#bodyOf(request, running.cancel.signal))
  }

  #handle(request: RequestFrame, running: RunningCall, body: ReceivedCall['body']): Promise<CallResponse> {
    running.call = callOf(request, this.#session.channel.peer, body)
    return this.#handler(running.call, running.cancel.signal)
  }

  #onError(id: number, { cancel, call }: RunningCall, error: SoukError): void {
    // Nothing happens before the whole request frame is valid and the stream of its body is open.
    this.#fail(id, error, error.notAccepted || call === undefined)
    // Cancels any work that the handler started for this call.
    cancel.abort(error)
  }

  #onLate(id: number): void {
    const running = this.#running.get(id)
    if (running === undefined) return
    const { cancel, call } = running
    // The stream of the body has not opened yet.
    if (call === undefined) return cancel.abort(missingBody())
    const late = 'isWaiting' in call.body && call.body.isWaiting ? call.body : undefined
    const error = late === undefined ? new SoukError('upstream_timeout') : lateBody()
    cancel.abort(error)
    // Otherwise the API's adapter would wait for the rest of the body.
    late?.abort(error)
  }

  async #bodyOf({ requestId }: RequestFrame, signal: AbortSignal): Promise<RequestBody> {
    const { channel } = this.#session
    const tag = bulkTag(requestId, BULK_OF.request)
    return requestBody(await this.#mailbox.take(channel, tag, signal, missingBody), channel)
  }

  /** Returns false if the body needs a stream of its own. @throws SoukError `response_too_large` */
  #reply(id: number, answer: CallResponse): boolean {
    const body = ridesInline(answer.body, this.#session.channel) ? answer.body : undefined
    const { status, headers, charged, receipt, payment, replayed, rate, quota, eventPrice } = answer
    const frame: Frame = {
      kind: 'response',
      id,
      status,
      headers,
      body,
      charged,
      receipt,
      ownerUs: microseconds(answer.ownerMs),
      upstreamUs: microseconds(answer.upstreamMs),
      payment,
      replayed,
      rate: rate && { ...rate, resetMs: Math.ceil(rate.resetMs) },
      quota,
      eventPrice
    }
    const isSent = this.#session.send(frame, this.#running.size)
    if (!isSent) throw new SoukError('response_too_large', 'The headers of the response are too large.')
    this.#unacknowledged++
    return body !== undefined
  }

  /** Sends the body on a stream of its own. After the head was sent, an error can only break the stream. */
  async #stream(requestId: Uint8Array, body: CallResponse['body'], cancel: AbortController): Promise<void> {
    const unsentBytes = body instanceof Uint8Array ? body.length : 0
    this.#unsentBytes += unsentBytes
    this.#unsentToAll.bytes += unsentBytes
    this.#streaming.add(cancel)
    try {
      const sink = await this.#session.channel.openBulk(bulkTag(requestId, BULK_OF.response), cancel.signal)
      if (!(await pipe(chunksOf(body), sendTo(sink, this.#clock)))) throw new Error('the consumer stopped reading')
    } catch (error) {
      // The signal tells the adapter, even if its body was never read.
      cancel.abort(new SoukError('call_interrupted', undefined, { cause: error }))
    } finally {
      this.#unsentBytes -= unsentBytes
      this.#unsentToAll.bytes -= unsentBytes
      this.#streaming.delete(cancel)
    }
  }

  #fail(id: number, error: SoukError, notAccepted = error.notAccepted): void {
    this.#session.send({ kind: 'failure', ...failureFrame(id, error), notAccepted })
  }
}

/** The frame becomes the call: it has the same fields. */
function callOf(request: RequestFrame, peer: string, body: ReceivedCall['body']): ReceivedCall {
  const { consumer, subscription } = request
  const call = request as unknown as { -readonly [K in keyof ReceivedCall]: ReceivedCall[K] }
  call.peer = peer
  call.body = body
  call.timeoutMs = timeoutOf(request)
  // Copies, so that the whole frame is not kept in memory.
  call.consumer = consumer && new Uint8Array(consumer)
  call.subscription = subscription && new Uint8Array(subscription)
  return call
}

const timeoutOf = ({ timeoutMs }: RequestFrame): number => Math.min(timeoutMs, UPSTREAM_TIMEOUT_MS_MAX)

/** Checks that every owner relies on, whatever it serves. @throws SoukError `invalid_request`, `upstream_timeout` */
function checkRequest(request: RequestFrame): void {
  const { api, requestId, method, path, idempotencyKey, payment, consumer, service, subscription, stream } = request
  const at = api.indexOf('@')
  const isSound =
    isApiName(api.slice(0, at)) &&
    isProviderId(api.slice(at + 1)) &&
    isRequestIdBytes(requestId) &&
    isMethod(method) &&
    isCallPath(path) &&
    (idempotencyKey === undefined || isIdempotencyKey(idempotencyKey)) &&
    (payment?.length ?? 0) <= PAYMENT_CHARS_MAX &&
    (consumer === undefined || consumer.length === CONSUMER_BYTES) &&
    (service === undefined || service === SUBSCRIPTION_SERVICE) &&
    (subscription === undefined || subscription.length === REQUEST_ID_BYTES) &&
    (stream === undefined || stream.length === REQUEST_ID_BYTES)
  if (!isSound) throw new SoukError('invalid_request', 'The call is malformed.')
  if (request.timeoutMs < DEADLINE_MS_MIN) throw new SoukError('upstream_timeout', 'The call has no time left.')
}

/** A code that a repeat of the consumer treats as unknown, because its first attempt may be running. */
function missingBody(): SoukError {
  return new SoukError('overloaded', 'No stream with the request body was opened in time.', { source: 'ingress' })
}

function lateBody(): SoukError {
  const detail = 'The request body did not arrive before the time of the call was up. Allow the call more time.'
  return new SoukError('call_interrupted', detail, { source: 'ingress' })
}

/** Microseconds as a non-negative integer. An adapter may report an invalid time. */
const microseconds = (ms: number): number => Math.max(0, Math.round(ms * 1_000) || 0)
