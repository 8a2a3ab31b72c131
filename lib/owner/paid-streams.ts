import { EMPTY_BYTES, latin1 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { EVENT_GRANT_MS } from '../base/limits/call.ts'
import type { Atoms } from '../base/money.ts'
import { within } from '../base/within.ts'
import type { AdapterReply } from '../interface/adapter.ts'
import { type CallResponse, EVENTS_RESPONSE, type IncomingCall } from '../interface/call.ts'
import type { Outcome, Reservation } from '../interface/payment-scheme.ts'
import { eventsResponse } from './events-response.ts'
import { PaidStream } from './paid-stream.ts'
import type { ServedApi } from './served-api.ts'

export interface PaidStreamsInit {
  readonly clock: Clock
  /** Reserves like for a call of that price. */
  readonly reserve: (api: ServedApi, call: IncomingCall, price: Atoms) => Reservation | Promise<Reservation>
  readonly outcome: (call: IncomingCall, status: number, ownerMs: number) => Outcome
}

/** Running streams whose events have a price, by reader. */
export class PaidStreams {
  readonly #init: PaidStreamsInit
  readonly #streams = new Map<string, PaidStream>()

  constructor(init: PaidStreamsInit) {
    this.#init = init
  }

  /** The response for the consumer. Where events have a price, its body sends paid events only. */
  gated(
    api: ServedApi,
    call: IncomingCall,
    reply: AdapterReply,
    answer: CallResponse,
    signal: AbortSignal
  ): CallResponse {
    const { events } = api.signed.manifest
    const { body } = answer
    if (events === undefined || reply.events === undefined || !reply.success || body instanceof Uint8Array)
      return answer
    const key = keyOf(call.peer, call.requestId)
    const abort = () => stream.abort()
    const stream: PaidStream = new PaidStream({
      clock: this.#init.clock,
      body,
      frames: reply.events,
      included: events.included,
      // A payment that came with the call covers the call only.
      most: call.payment === undefined ? (call.events ?? 0) : 0,
      charge: (payment, count) => this.#charge(api, payment, count, BigInt(count) * events.price),
      onOver: () => {
        this.#streams.delete(key)
        signal.removeEventListener('abort', abort)
      }
    })
    this.#streams.set(key, stream)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    return { ...answer, body: stream, eventPrice: events.price }
  }

  /**
   * Handles a payment for events. Charges nothing where the stream has ended or is unknown.
   * @throws SoukError `invalid_request`, errors of the payment scheme, and the signal's reason
   */
  async pay(payment: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    const { peer, stream, timeoutMs } = payment
    if (payment.payment !== undefined)
      throw new SoukError('invalid_request', 'Events can only be paid through a channel.')
    const found = stream && this.#streams.get(keyOf(peer, stream))
    if (found === undefined) return eventsResponse(EVENTS_RESPONSE.over)
    return within(found.pay(payment, Math.min(EVENT_GRANT_MS, timeoutMs / 2)), signal)
  }

  async #charge(api: ServedApi, payment: IncomingCall, count: number, price: Atoms): Promise<CallResponse> {
    const { clock, reserve, outcome } = this.#init
    const startedAt = clock.elapsed()
    if (payment.maxPrice !== undefined && price > payment.maxPrice) {
      throw new SoukError('price_exceeds_limit', `The price of ${count} events is above the limit of the payment.`, {
        notAccepted: true
      })
    }
    const reservation = await reserve(api, payment, price)
    const response = { status: EVENTS_RESPONSE.paid, headers: [], body: EMPTY_BYTES }
    const booked = outcome(payment, response.status, clock.elapsed() - startedAt)
    const settled = await reservation.capture({ ...booked, response, rule: 'events' })
    return { ...response, ...settled, ownerMs: clock.elapsed() - startedAt, upstreamMs: 0 }
  }
}

const keyOf = (peer: string, requestId: Uint8Array): string => peer + latin1(requestId)
