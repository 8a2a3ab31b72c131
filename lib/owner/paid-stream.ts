import type { Clock, Timer } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'
import { EVENT_PAYMENT_MS, EVENT_REFUSALS_MAX } from '../base/limits/call.ts'
import { INLINE_BODY_BYTES_MAX } from '../base/limits/link.ts'
import type { EventFrames } from '../interface/adapter.ts'
import { type CallResponse, EVENTS_RESPONSE, type IncomingCall } from '../interface/call.ts'
import { eventsResponse } from './events-response.ts'

export interface PaidStreamInit {
  readonly clock: Clock
  readonly body: AsyncIterable<Uint8Array>
  readonly frames: EventFrames
  /** Events included in the opening call. */
  readonly included: number
  /** Further events that the consumer will pay for. */
  readonly most: number
  /** Books a payment for `events` events. Durable when it resolves. @throws SoukError */
  readonly charge: (payment: IncomingCall, events: number) => Promise<CallResponse>
  readonly onOver: () => void
}

interface Chunk {
  readonly bytes: Uint8Array
  readonly isEvent: boolean
}

/** A payment that waits for events. */
interface Waiting {
  readonly payment: IncomingCall
  readonly resolve: (answer: CallResponse) => void
  readonly reject: (error: unknown) => void
  readonly timer: Timer
}

const DONE = { done: true, value: undefined } as const

/**
 * A stream whose events have a price. An event is sent when the opening call includes it, or after its payment is
 * booked. A payment is used for events that have arrived, never in advance. Events that arrive during a payment go on
 * the next one.
 *
 * The consumer pulls. Nothing is read from the API, or charged, before the consumer has room for it.
 */
export class PaidStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #init: PaidStreamInit
  readonly #source: AsyncIterator<Uint8Array>
  /** Chunks read from the API but not sent yet. */
  readonly #read = new Fifo<Chunk>()
  #reading: Promise<IteratorResult<Uint8Array>> | undefined
  /** Paid events that were not sent yet. */
  #paid: number
  #left: number
  #why: SoukError
  #waiting: Waiting | undefined
  #wake: (() => void) | undefined
  #isOver = false

  constructor(init: PaidStreamInit) {
    this.#init = init
    this.#source = init.body[Symbol.asyncIterator]()
    this.#paid = init.included
    this.#left = init.most
    this.#why = init.most === 0 ? notOffered() : limitReached()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      if (this.#isOver) return DONE
      const first = this.#read.first()
      if (first !== undefined && (!first.isEvent || this.#paid > 0)) {
        this.#read.shift()
        if (first.isEvent) this.#paid--
        return { done: false, value: first.bytes }
      }
      if (this.#paid === 0 && this.#left === 0) return this.#end()
      if (first !== undefined) await this.#pay()
      else if (!(await this.#pull())) {
        this.#over()
        return DONE
      }
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isOver) await this.#close()
    return DONE
  }

  /** Adds a payment of the consumer. Resolves when it was used for events, or when there will be none. */
  pay(payment: IncomingCall, patienceMs: number): Promise<CallResponse> {
    if (this.#isOver) return Promise.resolve(eventsResponse(EVENTS_RESPONSE.over))
    if (payment.events === 0 || payment.events === undefined) {
      this.#left = 0
      this.#why = givenUp()
      this.#wake?.()
      return Promise.resolve(eventsResponse(EVENTS_RESPONSE.none))
    }
    if (this.#waiting !== undefined) {
      const error = new SoukError('overloaded', 'Another payment already waits for events of this stream.', {
        notAccepted: true
      })
      return Promise.reject(error)
    }
    return new Promise((resolve, reject) => {
      const timer = this.#init.clock.after(patienceMs, () =>
        this.#take()?.resolve(eventsResponse(EVENTS_RESPONSE.none))
      )
      this.#waiting = { payment, resolve, reject, timer }
      this.#wake?.()
    })
  }

  /** Called when the call has ended and the stream has no reader. */
  abort(): void {
    this.#close().catch(() => {})
  }

  /** Reads one more chunk. Returns false at the end. */
  async #pull(): Promise<boolean> {
    this.#reading ??= this.#source.next()
    const reading = this.#reading
    try {
      return this.#put(await reading) !== undefined
    } catch (error) {
      this.#over()
      throw error
    }
  }

  #put(result: IteratorResult<Uint8Array>): Chunk | undefined {
    this.#reading = undefined
    if (result.done === true) return undefined
    const chunk = { bytes: result.value, isEvent: this.#init.frames.isEvent(result.value) }
    this.#read.push(chunk)
    return chunk
  }

  /** Counts the events that have arrived, so that a busy stream needs few payments. */
  async #gather(most: number): Promise<number> {
    let events = 0
    let bytes = 0
    const count = (chunk: Chunk) => {
      bytes += chunk.bytes.length
      if (chunk.isEvent) events++
    }
    const isEnough = () => events >= most || bytes >= INLINE_BODY_BYTES_MAX
    for (const chunk of this.#read) count(chunk)
    while (!isEnough() && !this.#isOver) {
      this.#reading ??= this.#source.next()
      const soon = new Promise<undefined>((resolve) => this.#init.clock.soon(() => resolve(undefined)))
      // An error or the end is reported by the next read.
      const result = await Promise.race([this.#reading, soon]).catch(() => undefined)
      const chunk = result === undefined || result.done === true ? undefined : this.#put(result)
      if (chunk === undefined) break
      count(chunk)
    }
    return events
  }

  /** Waits for a payment and books it, or ends the wait when none comes. */
  async #pay(): Promise<void> {
    for (let refusals = 0; refusals < EVENT_REFUSALS_MAX; refusals++) {
      if (this.#waiting === undefined) await this.#payment()
      if (this.#isOver || this.#left === 0) return
      const payment = this.#waiting?.payment
      if (payment === undefined) break
      const events = Math.min(await this.#gather(Math.min(payment.events ?? 0, this.#left)), this.#left)
      // The payment may have been withdrawn meanwhile.
      const waiting = this.#waiting?.payment === payment ? this.#take() : undefined
      if (waiting === undefined) continue
      try {
        const answer = await this.#init.charge(payment, events)
        this.#paid += events
        this.#left -= events
        return waiting.resolve(answer)
      } catch (error) {
        waiting.reject(error)
        if (!(error instanceof SoukError && error.notAccepted)) throw this.#broken(error)
      }
    }
    this.#left = 0
    this.#why = unpaid()
  }

  #payment(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#init.clock.after(EVENT_PAYMENT_MS, () => this.#wake?.())
      this.#wake = () => {
        timer.cancel()
        this.#wake = undefined
        resolve()
      }
    })
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.timer.cancel()
    return waiting
  }

  async #end(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#close()
    return { done: false, value: this.#init.frames.ended(this.#why) }
  }

  async #close(): Promise<void> {
    this.#over()
    await this.#source.return?.()
  }

  #broken(error: unknown): unknown {
    this.abort()
    return error
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#read.clear()
    this.#reading?.catch(() => {})
    this.#take()?.resolve(eventsResponse(EVENTS_RESPONSE.over))
    this.#wake?.()
    this.#init.onOver()
  }
}

function notOffered(): SoukError {
  return new SoukError(
    'payment_required',
    'Further events of this stream cost extra, and this call pays for none. Set a budget for events.'
  )
}
function limitReached(): SoukError {
  return new SoukError(
    'price_exceeds_limit',
    'The call has reached its price limit. Open the stream again for more events.'
  )
}
function givenUp(): SoukError {
  return new SoukError('spend_cap_reached', 'The consumer’s node stopped paying for events.')
}
function unpaid(): SoukError {
  return new SoukError('payment_required', 'The payment for an event did not arrive in time.')
}
