import { pipe } from 'it-pipe'
import type { Clock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { givenUp } from '../base/given-up.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { DEADLINE_HOP_MS, DEADLINE_MS_MIN } from '../base/limits/call.ts'
import { LINK_QUEUE_BYTES_MAX } from '../base/limits/link.ts'
import { PassingMap } from '../base/passing-map.ts'
import { watchBody } from '../base/watch-body.ts'
import { type Attempt, type Call, type CallResponse, UNKNOWN_EPOCH } from '../interface/call.ts'
import type { ResponseFrame } from '../interface/call-messages.ts'
import type { BulkSink, BulkSource, PeerAddress } from '../interface/link.ts'
import { CALL_ENDED, chunksOf, ResponseBodies, responseError, ridesInline, sendTo } from './body.ts'
import { BULK_OF, type BulkMailbox, bulkTag } from './bulk-mailbox.ts'
import { failureError } from './failure.ts'
import type { FailureFrame, Frame } from './frame.ts'
import type { Session } from './session.ts'

/** The link broke after the call was sent. Its outcome is unknown. */
export interface Broken {
  readonly fate: 'broken'
}

/** A call and its owner, for one or more attempts to send it. */
export interface SentCall {
  readonly owner: PeerAddress
  readonly call: Call
  readonly signal: AbortSignal | undefined
  readonly deadlineAt: number
}

/**
 * Decides the result of a call whose link broke before its response, after it was sent once.
 * @param epoch - boot epoch of the process that it was sent to
 */
export type OnBroken = (sent: SentCall, epoch: bigint) => Attempt | Promise<Attempt>

type Result = Attempt | Broken | Promise<Attempt>

interface PendingCall {
  readonly sent: SentCall
  readonly startedAt: number
  readonly isRepeat: boolean
  readonly onAbort: (() => void) | undefined
  readonly settle: (result: Result) => void
  /** Present where the request's body has its own stream. */
  readonly upload: Upload | undefined
}

/** Cancels the body of a request. */
class Upload extends AbortController {
  /** Undefined until its stream is open. */
  sink: BulkSink | undefined
}

/** The client half of a session: calls sent to the peer that have no response yet. */
export class OutgoingCalls {
  readonly #session: Session
  readonly #mailbox: BulkMailbox
  readonly #clock: Clock
  readonly #onAnswered: (requestId: Uint8Array) => void
  readonly #onBroken: OnBroken
  readonly #pending = new PassingMap<number, PendingCall>()
  readonly #deadlines: Deadlines<number>
  readonly #bodies: ResponseBodies
  #lastId = 0

  constructor(
    session: Session,
    mailbox: BulkMailbox,
    clock: Clock,
    onAnswered: (requestId: Uint8Array) => void,
    onBroken: OnBroken
  ) {
    this.#session = session
    this.#mailbox = mailbox
    this.#clock = clock
    this.#onAnswered = onAnswered
    this.#onBroken = onBroken
    this.#deadlines = new Deadlines(clock, (id) => this.#onLate(id))
    this.#bodies = new ResponseBodies(clock)
  }

  get size(): number {
    return this.#pending.size
  }

  /** The boot epoch of the peer's process. */
  get #epoch(): bigint {
    return this.#session.hello?.epoch ?? UNKNOWN_EPOCH
  }

  /** Sends a call for the first time. If the link breaks, `onBroken` decides the result. */
  send(sent: SentCall): Promise<Attempt> {
    return new Promise((settle) => {
      // Only a repeat is settled as broken.
      this.#send(sent, undefined, settle as PendingCall['settle'])
    })
  }

  /** Sends a call again. @param sentTo - the epoch of the process that received it first */
  repeat(sent: SentCall, sentTo: bigint): Promise<Attempt | Broken> {
    return new Promise((settle) => {
      this.#send(sent, sentTo, settle)
    })
  }

  #send(sent: SentCall, resentFromEpoch: bigint | undefined, settle: PendingCall['settle']): void {
    const { call, signal } = sent
    const { channel, hello } = this.#session
    // It closed after it was chosen. Nothing is sent, and `onClose` does not come again.
    if (!channel.open) {
      const isFirst = resentFromEpoch === undefined
      settle(isFirst ? { fate: 'not_accepted', error: new SoukError('owner_unreachable') } : { fate: 'broken' })
      return
    }
    if (this.#pending.size >= (hello?.inFlightMax ?? 0) || channel.queuedBytes >= LINK_QUEUE_BYTES_MAX) {
      const error = new SoukError('overloaded', 'Too many calls to this owner are running. Try again later.', {
        retryAfterMs: OVERLOAD_PAUSE_MS
      })
      settle({ fate: 'not_accepted', error })
      return
    }
    const id = ++this.#lastId
    const startedAt = this.#clock.elapsed()
    const timeoutMs = sent.deadlineAt - startedAt
    this.#deadlines.add(id, timeoutMs)
    const onAbort = signal === undefined ? undefined : this.#onAbort(id, signal)
    const body = ridesInline(call.body, channel) ? call.body : undefined
    const upload = body === undefined ? new Upload() : undefined
    const isRepeat = resentFromEpoch !== undefined
    this.#pending.set(id, { sent, startedAt, isRepeat, onAbort, settle, upload })
    const frame: Frame = {
      ...call,
      kind: 'request',
      id,
      body,
      timeoutMs: Math.max(DEADLINE_MS_MIN, Math.floor(timeoutMs - DEADLINE_HOP_MS)),
      resentFromEpoch
    }
    if (!this.#session.send(frame, this.#pending.size)) {
      const error = new SoukError('request_too_large', 'The path and headers of the call are too large.', {
        source: 'ingress'
      })
      this.#take(id)?.settle({ fate: 'failed', error })
    } else if (upload !== undefined) {
      void this.#sendBody(id, call, upload)
    }
  }

  /** Ends the call with its signal. A function of its own, so that only a call with a signal makes this closure. */
  #onAbort(id: number, signal: AbortSignal): () => void {
    const onAbort = () => this.#giveUp(id, givenUp(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    return onAbort
  }

  onResponse(response: ResponseFrame): void {
    const pending = this.#take(response.id)
    if (pending === undefined) return
    const ms = this.#clock.elapsed() - pending.startedAt
    if (response.body === undefined) {
      void this.#receiveAnswer(response, pending, ms)
    } else {
      pending.upload?.abort(CALL_ENDED)
      this.#onAnswered(pending.sent.call.requestId)
      pending.settle(answered(response, response.body, pending, ms))
    }
  }

  onFailure(failure: FailureFrame): void {
    const pending = this.#take(failure.id)
    if (pending === undefined) return
    const error = failureError(failure)
    pending.upload?.abort(error)
    pending.settle({ fate: error.notAccepted ? 'not_accepted' : 'failed', error })
  }

  onClose(): void {
    for (const id of this.#pending.keys()) {
      const pending = this.#take(id)
      pending?.upload?.abort(new Error('the link broke'))
      pending?.settle(this.#endOf(pending))
    }
    this.#deadlines.retire()
    this.#bodies.retire()
  }

  /** The result of a call whose channel closed. A repeat may have run before. */
  #endOf({ sent, isRepeat }: PendingCall): Result {
    if (isRepeat) return { fate: 'broken' }
    if (!this.#session.isDrained) return this.#onBroken(sent, this.#epoch)
    return { fate: 'not_accepted', error: new SoukError('owner_unreachable', 'The owner is stopping.') }
  }

  #onLate(id: number): void {
    const { upload } = this.#pending.get(id) ?? {}
    this.#giveUp(id, upload === undefined || upload.sink?.isRead === true ? noResponse() : unsentBody())
  }

  /**
   * The caller stopped waiting: cancels the call at the owner, which cancels its upstream request. The outcome is
   * unknown.
   */
  #giveUp(id: number, error: SoukError, fate: 'lost' | 'not_accepted' = 'lost'): void {
    const pending = this.#take(id)
    if (pending === undefined) return
    pending.upload?.abort(error)
    this.#session.send({ kind: 'cancel', id })
    pending.settle({ fate, error })
  }

  #take(id: number): PendingCall | undefined {
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    this.#pending.delete(id)
    this.#deadlines.delete(id)
    if (pending.onAbort !== undefined) pending.sent.signal?.removeEventListener('abort', pending.onAbort)
    return pending
  }

  async #sendBody(id: number, call: Call, upload: Upload): Promise<void> {
    const { signal } = upload
    let sink: BulkSink
    try {
      sink = await this.#session.channel.openBulk(bulkTag(call.requestId, BULK_OF.request), signal)
    } catch (cause) {
      // An owner runs nothing before it has the stream, so nothing happened.
      const error = new SoukError('overloaded', 'This node could not open a stream for the body of the call.', {
        cause,
        source: 'ingress'
      })
      this.#giveUp(id, error, 'not_accepted')
      return
    }
    upload.sink = sink
    const onAbort = () => sink.abort(asSoukError(signal.reason))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      // If the owner stopped the upload, its response gives the reason.
      await pipe(chunksOf(call.body), sendTo(sink, this.#clock))
    } catch (cause) {
      this.#giveUp(
        id,
        new SoukError('call_interrupted', 'This node could not read the body of the call.', {
          cause,
          source: 'ingress'
        })
      )
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #receiveAnswer(response: ResponseFrame, pending: PendingCall, ms: number): Promise<void> {
    const body = await this.#receiveBody(response.id, pending)
    const isLost = body instanceof SoukError
    pending.settle(isLost ? { fate: 'lost', error: body } : answered(response, body, pending, ms))
  }

  /** The response body from its own stream. From now on only the caller ends it, or a long silence. */
  async #receiveBody(id: number, { sent, upload }: PendingCall): Promise<CallResponse['body'] | SoukError> {
    const { call, signal } = sent
    let source: BulkSource
    try {
      const tag = bulkTag(call.requestId, BULK_OF.response)
      source = await this.#mailbox.take(this.#session.channel, tag, signal)
    } catch (error) {
      this.#session.send({ kind: 'cancel', id })
      upload?.abort(CALL_ENDED)
      return signal?.aborted === true ? givenUp(signal) : asSoukError(error)
    }
    const onAbort = () => signal !== undefined && source.abort(givenUp(signal))
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    const onOver = (isComplete: boolean) => {
      signal?.removeEventListener('abort', onAbort)
      upload?.abort(CALL_ENDED)
      if (isComplete) this.#onAnswered(call.requestId)
      // An owner with nothing to send does not notice that its reader left.
      else this.#session.send({ kind: 'cancel', id })
    }
    return watchBody(this.#bodies.chunksOf(source), onOver, responseError)
  }
}

function answered(response: ResponseFrame, body: CallResponse['body'], { upload }: PendingCall, ms: number): Attempt {
  return { fate: 'answered', answer: answerOf(response, body), ms, isBodyApart: upload !== undefined }
}

/** The frame becomes the answer: it has the same fields. */
function answerOf(response: ResponseFrame, body: CallResponse['body']): CallResponse {
  const answer = response as unknown as { -readonly [K in keyof CallResponse]: CallResponse[K] }
  answer.body = body
  answer.ownerMs = response.ownerUs / 1_000
  answer.upstreamMs = response.upstreamUs / 1_000
  return answer
}

function noResponse(): SoukError {
  return new SoukError('upstream_timeout', 'No response of the owner arrived in time.')
}

/** The owner may have passed the beginning on, so the outcome is unknown. */
function unsentBody(): SoukError {
  const detail = 'The request body was still being sent when the time of the call was up. Allow the call more time.'
  return new SoukError('call_interrupted', detail, { source: 'ingress' })
}
