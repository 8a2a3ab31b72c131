import type { Clock, Timer } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { DEADLINE_HOP_MS, DEADLINE_MS_MIN, LINK_QUEUE_BYTES_MAX } from '../base/limits.ts'
import type { Attempt, Call, CallAnswer } from '../interface/call.ts'
import { pump, ridesInline, watched } from './body.ts'
import { BULK_OF, type BulkMailbox, bulkTag } from './bulk-mailbox.ts'
import { failureError } from './failure.ts'
import type { FailureFrame, ResponseFrame } from './frame.ts'
import type { Session } from './session.ts'

/** The link broke after the call was sent: what became of it is to be found out. */
export interface Broken {
  readonly fate: 'broken'
}

interface PendingCall {
  readonly call: Call
  readonly startedAt: number
  readonly timer: Timer
  readonly signal: AbortSignal | undefined
  readonly onAbort: () => void
  readonly settle: (result: Attempt | Broken) => void
}

/** The client half of a session: calls sent to the peer and not yet answered. */
export class OutgoingCalls {
  readonly #session: Session
  readonly #mailbox: BulkMailbox
  readonly #clock: Clock
  readonly #onAnswered: (requestId: Uint8Array) => void
  readonly #pending = new Map<number, PendingCall>()
  #lastId = 0

  constructor(session: Session, mailbox: BulkMailbox, clock: Clock, onAnswered: (requestId: Uint8Array) => void) {
    this.#session = session
    this.#mailbox = mailbox
    this.#clock = clock
    this.#onAnswered = onAnswered
  }

  get size(): number {
    return this.#pending.size
  }

  /** Sends one call. `timeoutMs` is the whole time left for it here. */
  send(call: Call, timeoutMs: number, signal: AbortSignal | undefined, resentFromEpoch?: bigint) {
    return new Promise<Attempt | Broken>((settle) => {
      const { channel, hello } = this.#session
      if (this.#pending.size >= (hello?.inFlightMax ?? 0) || channel.queuedBytes >= LINK_QUEUE_BYTES_MAX) {
        settle({
          fate: 'not_accepted',
          error: new SoukError('overloaded', 'Too many calls are under way to this owner.')
        })
        return
      }
      const id = ++this.#lastId
      const onAbort = () => this.#giveUp(id, asSoukError(signal?.reason))
      const timer = this.#clock.after(timeoutMs, () => this.#giveUp(id, new SoukError('upstream_timeout')))
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#pending.set(id, { call, startedAt: this.#clock.elapsed(), timer, signal, onAbort, settle })

      const body = ridesInline(call.body, channel) ? call.body : undefined
      this.#session.send({
        kind: 'request',
        id,
        requestId: call.requestId,
        api: call.api,
        method: call.method,
        path: call.path,
        headers: call.headers,
        body,
        timeoutMs: Math.max(DEADLINE_MS_MIN, Math.floor(timeoutMs - DEADLINE_HOP_MS)),
        revision: call.revision,
        maxPrice: call.maxPrice,
        authorization: call.authorization,
        idempotencyKey: call.idempotencyKey,
        traceparent: call.traceparent,
        resentFromEpoch
      })
      if (body === undefined) void this.#sendBody(id, call, signal)
    })
  }

  onResponse(response: ResponseFrame): void {
    const pending = this.#take(response.id)
    if (pending === undefined) return
    const { call, startedAt } = pending
    const ms = this.#clock.elapsed() - startedAt
    const answer = (body: CallAnswer['body']): Attempt => ({
      fate: 'answered',
      ms,
      answer: {
        status: response.status,
        headers: response.headers,
        body,
        charged: response.charged,
        receipt: response.receipt,
        ownerMs: response.ownerUs / 1_000,
        upstreamMs: response.upstreamUs / 1_000
      }
    })
    if (response.body !== undefined) {
      this.#onAnswered(call.requestId)
      pending.settle(answer(response.body))
      return
    }
    this.#mailbox.take(this.#session.channel.peer, bulkTag(call.requestId, BULK_OF.response)).then(
      (source) => {
        const onAbort = () => source.abort(asSoukError(pending.signal?.reason))
        if (pending.signal?.aborted === true) onAbort()
        pending.signal?.addEventListener('abort', onAbort, { once: true })
        const body = watched(source, (isComplete) => {
          pending.signal?.removeEventListener('abort', onAbort)
          if (isComplete) this.#onAnswered(call.requestId)
          else this.#session.send({ kind: 'cancel', id: response.id })
        })
        pending.settle(answer(body))
      },
      (error: unknown) => pending.settle({ fate: 'failed', error: asSoukError(error) })
    )
  }

  onFailure(failure: FailureFrame): void {
    const pending = this.#take(failure.id)
    if (pending === undefined) return
    const error = failureError(failure)
    if (!error.notAccepted) this.#onAnswered(pending.call.requestId)
    pending.settle({ fate: error.notAccepted ? 'not_accepted' : 'failed', error })
  }

  onClose(): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.settle({ fate: 'broken' })
  }

  /** Nobody waits for this call any more: tells the owner, which gives up its upstream. */
  #giveUp(id: number, error: SoukError): void {
    const pending = this.#take(id)
    if (pending === undefined) return
    this.#session.send({ kind: 'cancel', id })
    pending.settle({ fate: 'failed', error })
  }

  #take(id: number): PendingCall | undefined {
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    this.#pending.delete(id)
    pending.timer.cancel()
    pending.signal?.removeEventListener('abort', pending.onAbort)
    return pending
  }

  async #sendBody(id: number, call: Call, signal: AbortSignal | undefined): Promise<void> {
    const stop = new AbortController()
    try {
      const tag = bulkTag(call.requestId, BULK_OF.request)
      await pump(call.body, await this.#session.channel.openBulk(tag, signal ?? stop.signal))
    } catch (error) {
      // A call that is answered already does not need the rest of its body; that is no failure.
      this.#giveUp(id, new SoukError('call_interrupted', 'The request body could not be sent.', { cause: error }))
    }
  }
}
