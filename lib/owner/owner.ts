import type { HeldBytes } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { requestHash } from '../base/request-hash.ts'
import { watchBody } from '../base/watch-body.ts'
import { within } from '../base/within.ts'
import type { AdapterReply } from '../interface/adapter.ts'
import type { CallResponse, IncomingCall } from '../interface/call.ts'
import type { Headers, Payload } from '../interface/payload.ts'
import type { PlanService, QuotaReservation } from '../interface/plan-service.ts'
import type { CallLog, CallRecord, ClaimLog } from '../interface/store.ts'
import type { Admission, Outcome, Reservation, Settled, PaymentScheme } from '../interface/payment-scheme.ts'
import { answeredBefore, responseOf, checkSame, repeatable, replayed, ruleOf, storable } from './stored-responses.ts'
import { checkDeliverable } from './deliverable.ts'
import { mayHaveReachedApi } from './failure-limits.ts'
import { callerOf, CallLimiter, type CallPermit } from './call-limiter.ts'
import { type IdempotentCall, IdempotentCalls, unlessOver } from './idempotent-calls.ts'
import { NewestIds } from './newest-ids.ts'
import { OwnerLoad } from './owner-load.ts'
import { PaidStreams } from './paid-streams.ts'
import { checkAge } from './request-age.ts'
import { admit, boundedBody, limitsOf, type ServedApi } from './served-api.ts'
import { ServedApis } from './served-apis.ts'
import { isUnderPlan, settleUnderPlan, withQuota } from './under-plan.ts'

export interface OwnerInit {
  readonly clock: Clock
  readonly paymentScheme: PaymentScheme
  readonly calls: CallLog
  readonly claims: Pick<ClaimLog, 'take' | 'free'>
  /** Peer id of this node. */
  readonly self: string
  /** Boot epoch of this process. */
  readonly epoch: bigint
  /** Time its books were restored from a backup, milliseconds since the epoch. Default: never. */
  readonly restoredAt?: number
  /** Absent: this node sells no subscriptions. */
  readonly plans?: PlanService
  /** Bytes of peers' bodies held at once. Default `HELD_BYTES_MAX`. */
  readonly heldBytesMax?: number
  /** Like `Store.refusal`. Default: never refuses. */
  readonly refusal?: () => SoukError | undefined
}

/** The resources of one running call. */
interface Run {
  readonly signal: AbortSignal
  readonly permit: CallPermit
  /** Present for a body that is collected. */
  readonly held: HeldBytes | undefined
  readonly startedAt: number
  readonly keyed?: IdempotentCall
}

interface RunningCall {
  readonly call: IncomingCall
  readonly answer: Promise<CallResponse>
}

/**
 * Runs the calls of the APIs that this node serves. It admits a call, reserves its payment, calls the adapter and books
 * the outcome. Only then it responds, so every response is durable. A call reaches its upstream at most once:
 * - a repeat to the same process finds the running call or its stored outcome; otherwise the call never arrived and
 *   runs now;
 * - a repeat to a later process finds the stored outcome, or gets `call_interrupted`, and never runs;
 * - a repeat that is not marked as one also finds its stored outcome.
 */
export class Owner {
  readonly apis = new ServedApis()
  readonly #init: OwnerInit
  /** Calls without a response yet, and repeats being looked up, by peer and request id. */
  readonly #running = new Map<string, RunningCall>()
  readonly #newest: NewestIds
  readonly #limiter: CallLimiter
  readonly #pressure: OwnerLoad
  readonly #streams: PaidStreams
  readonly #keyed: IdempotentCalls

  constructor(init: OwnerInit) {
    this.#init = init
    this.#newest = new NewestIds(init.epoch)
    this.#limiter = new CallLimiter(init.clock)
    this.#pressure = new OwnerLoad(init)
    this.#streams = new PaidStreams({
      clock: init.clock,
      reserve: (api, call, price) => this.#reserve(api, call, price),
      outcome: (call, status, ownerMs) => this.#outcome(call, status, ownerMs, 0)
    })
    this.#keyed = new IdempotentCalls(init)
  }

  /** The `CallHandler` of the call protocol, and of the node's own calls. */
  async handle(call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    const key = call.peer + Buffer.from(call.requestId).toString('latin1')
    const running = this.#running.get(key)
    if (running !== undefined) {
      checkSame(call, requestHash(running.call))
      return repeatable(await this.#join(running.answer, call, signal))
    }
    checkAge(call.requestId, this.#init.clock.now())
    // Registered before any await, so that of two concurrent repeats one finds the other.
    const isNew = this.#newest.isNew(call.peer, call.requestId)
    const answer = isNew && call.resentFromEpoch === undefined ? this.#run(call, signal) : this.#repeat(call, signal)
    this.#running.set(key, { call, answer })
    try {
      return await answer
    } finally {
      this.#running.delete(key)
    }
  }

  /**
   * Waits for the running call. It may still be charged when a repeat gives up, and a failure would say that it was not. So the
   * repeat gets the one refusal that leaves the outcome open.
   */
  async #join(answer: Promise<CallResponse>, call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    try {
      return await within(answer, signal)
    } catch (error) {
      if (!signal.aborted || error !== signal.reason || call.resentFromEpoch === undefined) throw error
      throw new SoukError('overloaded', 'The first attempt of this call is still running. Repeat the call later.', {
        cause: error,
        notAccepted: true,
        retryAfterMs: OVERLOAD_PAUSE_MS
      })
    }
  }

  async #repeat(call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    return (await this.#recall(call)) ?? this.#run(call, signal)
  }

  async #run(call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    // A running stream is paid for until its end, even while the node stops.
    if (call.stream !== undefined) return this.#streams.pay(call, signal)
    const startedAt = this.#init.clock.elapsed()
    const { apis } = this
    if (apis.isDraining) throw new SoukError('overloaded', 'This node is stopping.', { notAccepted: true })
    this.#pressure.admit(call.peer)
    const api = apis.get(call.api)
    if (api === undefined) throw new SoukError('api_not_found', undefined, { notAccepted: true })
    admit(api, call, apis.inFlightOf(api), this.#init.paymentScheme)
    // A request for the price, with an empty payment, writes nothing.
    if (call.payment !== '') refuseWork(this.#init.refusal?.())
    const permit = this.#limiter.enter(api.signed.id, call, limitsOf(api, this.#init.plans?.planOf(api.signed, call)))
    apis.enter(api)
    const held = this.#pressure.hold(call)
    const leave = once(() => {
      held?.free()
      permit.leave()
      apis.leave(api)
    })
    try {
      const answer = rated(await this.#runOnce(api, call, { signal, permit, held, startedAt }), permit)
      if (answer.body instanceof Uint8Array) leave()
      else return { ...answer, body: untilOver(answer.body, signal, leave) }
      return answer
    } catch (error) {
      leave()
      throw error
    }
  }

  /**
   * A call with its own payment needs no idempotency key: the payment is spent once, and the payment scheme finds its
   * response.
   */
  #runOnce(api: ServedApi, call: IncomingCall, run: Run): Promise<CallResponse> {
    const { idempotencyKey, payment } = call
    if (idempotencyKey === undefined || payment !== undefined) return this.#perform(api, call, run)
    return this.#runKeyed(api, call, idempotencyKey, run)
  }

  /** Runs once for all calls with the same key. */
  async #runKeyed(api: ServedApi, call: IncomingCall, key: string, run: Run): Promise<CallResponse> {
    const { clock } = this.#init
    const bounded = { ...call, body: boundedBody(api, call.body) }
    const keyed = await this.#keyed.enter(bounded, callerOf(call), key)
    if (!('end' in keyed)) return { ...answeredBefore(keyed), ownerMs: clock.elapsed() - run.startedAt }
    const own = unlessOver(clock, call, run.signal)
    try {
      return await this.#perform(api, { ...call, body: keyed.body }, { ...run, signal: own.signal, keyed })
    } finally {
      own.follow()
      keyed.end()
    }
  }

  async #perform(api: ServedApi, call: IncomingCall, run: Run): Promise<CallResponse> {
    let isTaken = false
    let quotaReservation: QuotaReservation | undefined
    try {
      if (isUnderPlan(call)) quotaReservation = await this.#planned(api, call)
      const reservation = await this.#reserve(api, call, quotaReservation?.price)
      isTaken = true
      if (reservation.replay !== undefined) return replayed(reservation.replay, call)
      const reply = quotaReservation?.answer?.() ?? (await this.#ask(api, call, reservation, run))
      const settled = await this.#settle(call, reply, reservation, run, quotaReservation)
      quotaReservation = undefined
      return this.#streams.gated(api, call, reply, settled, run.signal)
    } catch (error) {
      // A refused call does not count, because its payer may have to retry with a better payment.
      if (!isTaken) run.permit.giveBack()
      if (!isTaken) await run.keyed?.giveUp()
      await quotaReservation?.end(false)
      throw error
    }
  }

  #planned({ signed }: ServedApi, call: IncomingCall): QuotaReservation | Promise<QuotaReservation> {
    const { plans } = this.#init
    if (call.payment !== undefined) {
      throw new SoukError(
        'invalid_request',
        'A call with its own payment cannot use a subscription. Send one of the two.'
      )
    }
    if (plans === undefined) throw new SoukError('subscription_inactive', undefined, { notAccepted: true })
    return plans.admit(signed, call)
  }

  #reserve(
    { signed }: ServedApi,
    call: IncomingCall,
    price = signed.manifest.price
  ): Reservation | Promise<Reservation> {
    const { requestId, peer, authorization } = call
    const { id, manifest } = signed
    return this.#init.paymentScheme.admit({
      requestId,
      api: id,
      peer,
      revision: manifest.revision,
      price,
      ...paymentOf(call, this.#init.paymentScheme),
      ...(authorization === undefined ? {} : { authorization }),
      ...(manifest.payout === undefined ? {} : { payout: manifest.payout })
    })
  }

  /** Sends one request to the upstream. An error is booked before it is returned. */
  async #ask(
    api: ServedApi,
    call: IncomingCall,
    reservation: Reservation,
    { signal, startedAt, keyed, permit, held }: Run
  ): Promise<AdapterReply> {
    const { method, path, body } = call
    const { price, events } = api.signed.manifest
    const request = { method, path, headers: headersOf(call), price, body: boundedBody(api, body, held) }
    try {
      const reply = await api.adapter.call(events === undefined ? request : { ...request, perEvent: true }, signal)
      checkDeliverable(reply)
      return reply
    } catch (thrown) {
      if (mayHaveReachedApi(thrown, signal)) permit.failed()
      // An adapter reports an abort with its own error. The signal has the reason.
      const error = asSoukError(signal.aborted ? signal.reason : thrown)
      const ms = this.#init.clock.elapsed() - startedAt
      const claim = keyed === undefined ? {} : { claim: keyed.failed }
      await reservation.release({ ...this.#outcome(call, error.status, ms, 0), ...claim, code: error.code })
      throw error
    }
  }

  /** Returns the upstream's response after booking it. */
  async #settle(
    call: IncomingCall,
    reply: AdapterReply,
    reservation: Reservation,
    { startedAt, keyed, permit }: Run,
    quotaReservation: QuotaReservation | undefined
  ): Promise<CallResponse> {
    const { status, headers, body, success } = reply
    if (success) permit.succeeded()
    else permit.failed()
    // An adapter may report a wrong time. Negative times would not fit a frame.
    const upstreamMs = Math.max(0, reply.upstreamMs) || 0
    const spentMs = () => Math.max(0, this.#init.clock.elapsed() - startedAt - upstreamMs)
    const outcome = {
      ...this.#outcome(call, status, spentMs(), upstreamMs, storable(reply)),
      ...(keyed === undefined ? {} : { claim: keyed.answered() })
    }
    const answered = (settled: Settled): CallResponse => ({
      status,
      headers,
      body,
      ...settled,
      ownerMs: spentMs(),
      upstreamMs
    })
    if (quotaReservation !== undefined)
      return withQuota(answered(await settleUnderPlan(reply, outcome, reservation, quotaReservation)), quotaReservation)
    return answered(
      await (success
        ? reservation.capture({ ...outcome, rule: ruleOf(reply) }, reply.price)
        : reservation.release(outcome))
    )
  }

  #outcome(
    call: IncomingCall,
    status: number,
    ownerMs: number,
    upstreamMs: number,
    response?: CallRecord['response']
  ): Outcome {
    const outcome = { status, requestHash: requestHash(call), at: this.#init.clock.now(), ownerMs, upstreamMs }
    return response === undefined ? outcome : { ...outcome, response }
  }

  /** The stored response, with the receipt of its charge. */
  async #stored(record: CallRecord, call: IncomingCall): Promise<CallResponse> {
    const response = responseOf(record, call)
    const settled = record.charged > 0n ? await this.#init.paymentScheme.settled?.(record) : undefined
    return settled === undefined ? response : { ...response, ...settled }
  }

  /** The stored outcome of an earlier attempt. Undefined where none arrived and the call may run now. */
  async #recall(call: IncomingCall): Promise<CallResponse | undefined> {
    const record = await this.#init.calls.find(call.peer, call.requestId)
    // For a call with its own payment, the payment scheme responds, because it knows whether the money arrived.
    if (record !== undefined && call.payment !== undefined && record.charged > 0n) return undefined
    if (record !== undefined) return this.#stored(record, call)
    if (call.resentFromEpoch === undefined || call.resentFromEpoch === this.#init.epoch) return undefined
    // The call went to an earlier process and may have reached the API. The interruption is recorded, so that no later
    // repeat runs it.
    const interrupted = new SoukError('call_interrupted')
    const api = this.apis.get(call.api)
    if (api !== undefined) {
      // Reserved at price 0: the record must be written even if the payment is refused now.
      const reservation = await this.#reserve(api, withoutPayment(call), 0n)
      await reservation.release({ ...this.#outcome(call, interrupted.status, 0, 0), code: interrupted.code })
    }
    throw interrupted
  }
}

/** @throws SoukError `payment_required` where the payment scheme accepts no such payments */
function paymentOf(call: IncomingCall, paymentScheme: PaymentScheme): Pick<Admission, 'payment'> {
  if (call.payment === undefined) return {}
  if (paymentScheme.takesPayments !== true)
    throw new SoukError('payment_required', 'This API accepts calls with a key only.')
  const { payment: text, idempotencyKey } = call
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  return { payment: { text, requestHash: requestHash(call), ...key } }
}

/** The call without its payment, for a record that no payment covers. */
function withoutPayment({ payment: _, ...call }: IncomingCall): IncomingCall {
  return call
}

/** Forwards the call's trace to the API (W3C Trace Context). */
function headersOf({ headers, traceparent }: IncomingCall): Headers {
  return traceparent === undefined ? headers : [...headers, ['traceparent', traceparent]]
}

function rated(answer: CallResponse, { rate }: CallPermit): CallResponse {
  return rate === undefined ? answer : { ...answer, rate }
}

function once(task: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) task()
    isDone = true
  }
}

/** A body that counts as running until it ends, or until its reader cancels. */
function untilOver(body: AsyncIterable<Uint8Array>, signal: AbortSignal, leave: () => void): Payload {
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return watchBody(body, () => {
    signal.removeEventListener('abort', leave)
    leave()
  })
}

/** Nothing has started, so another owner may accept the call. */
function refuseWork(refusal: SoukError | undefined): void {
  if (refusal === undefined) return
  const { code, message, cause, retryAfterMs } = refusal
  throw new SoukError(code, message, {
    cause,
    notAccepted: true,
    retryAfterMs
  })
}
