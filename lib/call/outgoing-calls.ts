import { pipe } from 'it-pipe'
import type { Clock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { DEADLINE_HOP_MS, DEADLINE_MS_MIN } from '../base/limits/call.ts'
import { LINK_QUEUE_BYTES_MAX } from '../base/limits/link.ts'
import { PassingMap } from '../base/passing-map.ts'
import { watchBody } from '../base/watch-body.ts'
import type { Attempt, Call, CallResponse } from '../interface/call.ts'
import type { ResponseFrame } from '../interface/call-messages.ts'
import type { BulkSink, BulkSource } from '../interface/link.ts'
import { CALL_ENDED, chunksOf, ridesInline, sendTo } from './body.ts'
import { BULK_OF, type BulkMailbox, bulkTag } from './bulk-mailbox.ts'
import { failureError, givenUp } from './failure.ts'
import type { FailureFrame, Frame } from './frame.ts'
import type { Session } from './session.ts'

/** The link broke after the call was sent. Its outcome is unknown. */
export interface Broken {
  readonly fate: 'broken'
}

interface PendingCall {
  readonly call: Call
  readonly startedAt: number
  readonly signal: AbortSignal | undefined
  readonly onAbort: (() => void) | undefined
  readonly settle: (result: Attempt | Broken) => void
  /** Cancels the request's body where it has its own stream. */
  readonly upload: AbortController | undefined
}

/** The client half of a session: calls sent to the peer that have no response yet. */
export class OutgoingCalls {
  readonly #session: Session
  readonly #mailbox: BulkMailbox
  readonly #clock: Clock
  readonly #onAnswered: (requestId: Uint8Array) => void
  readonly #pending = new PassingMap<number, PendingCall>()
  readonly #deadlines: Deadlines<number>
  #lastId = 0

  constructor(session: Session, mailbox: BulkMailbox, clock: Clock, onAnswered: (requestId: Uint8Array) => void) {
    this.#session = session
    this.#mailbox = mailbox
    this.#clock = clock
    this.#onAnswered = onAnswered
    this.#deadlines = new Deadlines(clock, (id) => this.#giveUp(id, new SoukError('upstream_timeout')))
  }

  get size(): number {
    return this.#pending.size
  }

  /** Sends one call. `timeoutMs` is the remaining time for the whole call. */
  send(call: Call, timeoutMs: number, signal: AbortSignal | undefined, resentFromEpoch?: bigint) {
    return new Promise<Attempt | Broken>((settle) => {
      const { channel, hello } = this.#session
      if (this.#pending.size >= (hello?.inFlightMax ?? 0) || channel.queuedBytes >= LINK_QUEUE_BYTES_MAX) {
        settle({
          fate: 'not_accepted',
          error: new SoukError('overloaded', 'Too many calls to this owner are running. Try again later.', {
            retryAfterMs: OVERLOAD_PAUSE_MS
          })
        })
        return
      }
      const id = ++this.#lastId
      const onAbort = signal && (() => this.#giveUp(id, givenUp(signal)))
      this.#deadlines.add(id, timeoutMs)
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true })
      const body = ridesInline(call.body, channel) ? call.body : undefined
      const upload = body === undefined ? new AbortController() : undefined
      this.#pending.set(id, { call, startedAt: this.#clock.elapsed(), signal, onAbort, settle, upload })

      const frame: Frame = {
        ...call,
        kind: 'request',
        id,
        body,
        timeoutMs: Math.max(DEADLINE_MS_MIN, Math.floor(timeoutMs - DEADLINE_HOP_MS)),
        resentFromEpoch
      }
      const isSent = this.#session.send(frame, this.#pending.size)
      if (!isSent) {
        const error = new SoukError('request_too_large', 'The path and headers of the call are too large.', {
          source: 'ingress'
        })
        this.#take(id)?.settle({ fate: 'failed', error })
      } else if (upload !== undefined) {
        void this.#sendBody(id, call, upload.signal)
      }
    })
  }

  onResponse(response: ResponseFrame): void {
    const pending = this.#take(response.id)
    if (pending === undefined) return
    const { call, startedAt, settle, upload } = pending
    const ms = this.#clock.elapsed() - startedAt
    const answered = (body: CallResponse['body']): Attempt => ({
      fate: 'answered',
      ms,
      ...(upload === undefined ? {} : { isBodyApart: true }),
      answer: answerOf(response, body)
    })
    if (response.body === undefined) {
      void this.#receiveBody(response.id, pending).then((body) => {
        settle(body instanceof SoukError ? { fate: 'lost', error: body } : answered(body))
      })
    } else {
      upload?.abort(CALL_ENDED)
      this.#onAnswered(call.requestId)
      settle(answered(response.body))
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
      pending?.settle({ fate: 'broken' })
    }
    this.#deadlines.retire()
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
    if (pending.onAbort !== undefined) pending.signal?.removeEventListener('abort', pending.onAbort)
    return pending
  }

  async #sendBody(id: number, call: Call, signal: AbortSignal): Promise<void> {
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

  /** The response body from its own stream. From now on only the caller ends it. */
  async #receiveBody(id: number, { call, signal, upload }: PendingCall): Promise<CallResponse['body'] | SoukError> {
    let source: BulkSource
    try {
      const tag = bulkTag(call.requestId, BULK_OF.response)
      source = await this.#mailbox.take(this.#session.channel.peer, tag, signal)
    } catch (error) {
      this.#session.send({ kind: 'cancel', id })
      upload?.abort(CALL_ENDED)
      return signal?.aborted === true ? givenUp(signal) : asSoukError(error)
    }
    const onAbort = () => signal !== undefined && source.abort(givenUp(signal))
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    return watchBody(source, (isComplete) => {
      signal?.removeEventListener('abort', onAbort)
      upload?.abort(CALL_ENDED)
      if (isComplete) this.#onAnswered(call.requestId)
      // An owner with nothing to send does not notice that its reader left.
      else this.#session.send({ kind: 'cancel', id })
    })
  }
}

/** The frame becomes the answer: it has the same fields. */
function answerOf(response: ResponseFrame, body: CallResponse['body']): CallResponse {
  const answer = response as unknown as { -readonly [K in keyof CallResponse]: CallResponse[K] }
  answer.body = body
  answer.ownerMs = response.ownerUs / 1_000
  answer.upstreamMs = response.upstreamUs / 1_000
  return answer
}
