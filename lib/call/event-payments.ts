import { EMPTY_BYTES } from '../base/bytes.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { discard } from '../base/discard.ts'
import { asSoukError } from '../base/errors.ts'
import {
  EVENTS_NONE_PAUSE_MS,
  EVENTS_PAID_AT_ONCE_ATOMS,
  EVENTS_PAID_AT_ONCE_MAX,
  EVENTS_PAID_UNASKED_MAX,
  TRIES_PER_OWNER_MAX,
  UPSTREAM_TIMEOUT_MS_MAX
} from '../base/limits/call.ts'
import type { Atoms } from '../base/money.ts'
import type { RequestIds } from '../base/request-id.ts'
import { watchBody } from '../base/watch-body.ts'
import { type Attempt, type Call, type Caller, EVENTS_RESPONSE } from '../interface/call.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { EventTerms } from '../interface/manifest.ts'
import type { EventBudget } from '../interface/souk.ts'
import type { Order, PaymentScheme } from '../interface/payment-scheme.ts'

/** Number of events that a call pays for beyond those included in its opening. */
export function eventsToPay(events: EventTerms | undefined, price: Atoms, maxPrice: Atoms | undefined): number {
  if (events === undefined || events.price === 0n) return 0
  if (maxPrice === undefined) return EVENTS_PAID_UNASKED_MAX
  const most = (maxPrice - price) / events.price
  return most < 0n ? 0 : Number(most < BigInt(Number.MAX_SAFE_INTEGER) ? most : BigInt(Number.MAX_SAFE_INTEGER))
}

export interface EventPaymentsInit {
  readonly clock: Clock
  readonly paymentScheme: PaymentScheme
  readonly caller: Caller
  readonly requestIds: RequestIds
  readonly owner: PeerAddress
  /** Order of the call that opened the stream. */
  readonly order: Order
  /** Price per event, as the owner states and the manifest allows. */
  readonly price: Atoms
  readonly most: number
  readonly budget?: EventBudget
}

const NEVER = new AbortController().signal
const NONE: EventBudget = { reserve() {}, capture() {}, release() {} }

/**
 * Pays for a stream's events while it is read. Each payment is a separate call to the owner, which books it when it has
 * events for it. To the payment scheme these are ordinary calls.
 */
export class EventPayments {
  readonly #init: EventPaymentsInit
  #left: number
  #isOver = false

  constructor(init: EventPaymentsInit) {
    this.#init = init
    this.#left = init.most
  }

  /** The stream, with payments running while it is read. */
  paying(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    void this.#run()
    return watchBody(body, () => {
      this.#isOver = true
    })
  }

  async #run(): Promise<void> {
    try {
      for (let tries = 0; !this.#isOver && this.#left > 0; ) {
        const paid = await this.#pay()
        if (paid === 'over') return
        tries = paid === 'again' ? tries + 1 : 0
        if (paid === 'refused' || tries >= TRIES_PER_OWNER_MAX) break
      }
      // The owner knows the call's price limit from its opening. Any other reason to stop is reported here.
      if (!this.#isOver && this.#left > 0) await this.#send(this.#callFor(this.#orderFor(0), 0))
    } catch {
      // Without a payment, the owner ends the stream with an event that says why.
    }
  }

  async #pay(): Promise<'paid' | 'again' | 'refused' | 'over'> {
    const { paymentScheme, price, budget = NONE } = this.#init
    const events = this.#next()
    const order = this.#orderFor(events)
    try {
      await budget.reserve(order.price)
    } catch {
      return 'refused'
    }
    let authorization: Uint8Array | undefined
    try {
      authorization = await paymentScheme.authorise(order)
    } catch {
      budget.release(false)
      return 'refused'
    }
    const call = this.#callFor(order, events, authorization)
    const attempt = await this.#send(call)
    if (attempt.fate !== 'answered') {
      const isWorthIt = paymentScheme.fail(order, attempt)
      const { code, notAccepted } = asSoukError(attempt.error)
      budget.release(attempt.fate === 'lost')
      // An owner that is stopping, or cannot reach the chain now, may accept the next payment.
      return notAccepted && (isWorthIt || code === 'overloaded') ? 'again' : 'refused'
    }
    const { status, charged: said, receipt } = attempt.answer
    await paymentScheme.accept(order, { status, charged: said, receipt }, call)
    const counted = said < order.price ? said : order.price
    // A part of an event counts as one. Otherwise an owner that charges less than the price of an event is paid for ever.
    this.#left -= Number((counted + price - 1n) / price)
    await budget.capture(paymentScheme.movesMoney ? counted : 0n, order.requestId)
    if (status === EVENTS_RESPONSE.over) return 'over'
    // An owner that has no events waits with its response. Another one may not, and each payment takes both nodes' time.
    if (status === EVENTS_RESPONSE.none) await sleep(this.#init.clock, EVENTS_NONE_PAUSE_MS)
    return status === EVENTS_RESPONSE.paid && counted === 0n ? 'refused' : 'paid'
  }

  #next(): number {
    const byAmount = Number(EVENTS_PAID_AT_ONCE_ATOMS / this.#init.price)
    return Math.max(1, Math.min(byAmount, EVENTS_PAID_AT_ONCE_MAX, this.#left))
  }

  #orderFor(events: number): Order {
    const { order, price, requestIds } = this.#init
    return { ...order, requestId: requestIds.next(), price: BigInt(events) * price }
  }

  async #send(call: Call): Promise<Attempt> {
    const attempt = await this.#init.caller.call(this.#init.owner, call, NEVER)
    // A payment has no body. One that an owner sends would stay in memory until the link ends.
    if (attempt.fate === 'answered') discard(attempt.answer.body)
    return attempt
  }

  #callFor(order: Order, events: number, authorization?: Uint8Array): Call {
    const { order: opening } = this.#init
    return {
      requestId: order.requestId,
      api: order.api,
      method: 'POST',
      path: '',
      headers: [],
      body: EMPTY_BYTES,
      timeoutMs: UPSTREAM_TIMEOUT_MS_MAX,
      maxPrice: order.price,
      revision: order.revision,
      stream: opening.requestId,
      events,
      ...(authorization === undefined ? {} : { authorization })
    }
  }
}
