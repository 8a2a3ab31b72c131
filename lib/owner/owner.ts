import type { Clock } from '../base/clock.ts'
import { latin1 } from '../base/bytes.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { ignore } from '../base/ignore.ts'
import { PassingMap } from '../base/passing-map.ts'
import { requestHash } from '../base/request-hash.ts'
import type { AdapterReply } from '../interface/adapter.ts'
import type { CallResponse, CallWatcher, IncomingCall } from '../interface/call.ts'
import type { Headers } from '../interface/payload.ts'
import type { PlanService, QuotaReservation } from '../interface/plan-service.ts'
import type { CallLog, CallRecord, ClaimLog } from '../interface/store.ts'
import {
  type Outcome,
  type Payment,
  type PaymentScheme,
  RESOURCE_HEADER,
  type Reservation,
  type Settled
} from '../interface/payment-scheme.ts'
import { answeredBefore, responseOf, replayed, ruleOf, storable } from './stored-responses.ts'
import { checkDeliverable } from './deliverable.ts'
import { mayHaveReachedApi } from './failure-limits.ts'
import { callerOf, CallLimiter } from './call-limiter.ts'
import { type IdempotentCall, IdempotentCalls, unlessOver } from './idempotent-calls.ts'
import { Interruptions } from './interruptions.ts'
import { NewestIds } from './newest-ids.ts'
import { OwnerLoad } from './owner-load.ts'
import { PaidStreams } from './paid-streams.ts'
import { checkAge } from './request-age.ts'
import { Run } from './run.ts'
import { RunningCall } from './running-call.ts'
import { admit, boundedBody, limitsOf, type ServedApi } from './served-api.ts'
import { ServedApis } from './served-apis.ts'
import { isUnderPlan, settleUnderPlan } from './under-plan.ts'

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
  /** Bytes of bodies held at once. Default `HELD_BYTES_MAX`. */
  readonly heldBytesMax?: number
  /** Like `Store.refusal`. Default: never refuses. */
  readonly refusal?: () => SoukError | undefined
  /** Default: none. */
  readonly watchers?: readonly CallWatcher[]
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
  readonly #watchers: readonly CallWatcher[]
  /** Calls without a response yet, and repeats being looked up, by peer and request id. */
  readonly #running = new PassingMap<string, RunningCall>()
  readonly #newest: NewestIds
  readonly #limiter: CallLimiter
  readonly #pressure: OwnerLoad
  readonly #interruptions: Interruptions
  readonly #streams: PaidStreams
  readonly #keyed: IdempotentCalls

  constructor(init: OwnerInit) {
    this.#init = init
    this.#watchers = init.watchers ?? []
    this.#newest = new NewestIds(init.epoch)
    this.#limiter = new CallLimiter(init.clock)
    this.#pressure = new OwnerLoad(init)
    this.#interruptions = new Interruptions(init.clock, init.refusal)
    this.#streams = new PaidStreams({
      clock: init.clock,
      reserve: (api, call, price) => this.#reserve(api, call, price),
      outcome: (call, status, ownerMs) => this.#outcome(call, status, ownerMs, 0)
    })
    this.#keyed = new IdempotentCalls(init)
  }

  /** The `CallHandler` of the call protocol, and of the node's own calls. */
  handle(call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    const key = call.peer + latin1(call.requestId)
    const running = this.#running.get(key)
    if (running !== undefined) return running.join(call, signal)
    // Registered before the call starts, so that of two concurrent repeats one finds the other.
    const started = new RunningCall(call)
    this.#running.set(key, started)
    return (started.answer = this.#start(key, started, signal))
  }

  /** An async function keeps each of its variables in memory while it waits, so this one has few. */
  async #start(key: string, started: RunningCall, signal: AbortSignal): Promise<CallResponse> {
    const { call } = started
    const startedAt = this.#init.clock.elapsed()
    try {
      const answer = await this.#begin(call, signal, startedAt)
      this.#onAnswer(call, answer, startedAt)
      return started.shared(answer)
    } catch (error) {
      this.#onError(call, error, startedAt, signal)
      throw error
    } finally {
      this.#running.delete(key)
    }
  }

  #begin(call: IncomingCall, signal: AbortSignal, startedAt: number): Promise<CallResponse> {
    for (const watcher of this.#watchers) watcher.onCall?.(call)
    checkAge(call, this.#init.clock.now())
    const isNew = this.#newest.isNew(call.peer, call.requestId) && call.resentFromEpoch === undefined
    return isNew ? this.#run(call, signal, startedAt) : this.#repeat(call, signal, startedAt)
  }

  #onAnswer(call: IncomingCall, answer: CallResponse, startedAt: number): void {
    const ms = this.#init.clock.elapsed() - startedAt
    for (const watcher of this.#watchers) watcher.onAnswer(call, answer, ms)
  }

  #onError(call: IncomingCall, error: unknown, startedAt: number, signal: AbortSignal): void {
    const ms = this.#init.clock.elapsed() - startedAt
    for (const watcher of this.#watchers) watcher.onError(call, error, ms, signal)
  }

  async #repeat(call: IncomingCall, signal: AbortSignal, startedAt: number): Promise<CallResponse> {
    const { peer, requestId, resentFromEpoch } = call
    const record = await this.#init.calls.find(peer, requestId)
    if (record !== undefined) {
      // The payment scheme responds to a call with its own payment, because it knows whether the money arrived.
      const isCharged = call.payment !== undefined && record.charged > 0n
      return isCharged ? this.#run(call, signal, startedAt, true) : this.#stored(record, call)
    }
    const isOfThisProcess = resentFromEpoch === undefined || resentFromEpoch === this.#init.epoch
    if (isOfThisProcess) return this.#run(call, signal, startedAt)
    return this.#interrupt(call)
  }

  /** Not async, because a call that is admitted waits for nothing here. @throws SoukError */
  #run(call: IncomingCall, signal: AbortSignal, startedAt: number, isCharged = false): Promise<CallResponse> {
    // A running stream is paid for until its end, even while the node stops.
    if (call.stream !== undefined) return this.#streams.pay(call, signal)
    const run = this.#admit(call, startedAt)
    run.isCharged = isCharged
    const { idempotencyKey, payment } = call
    // A call with its own payment needs no key: the payment is spent once, and the payment scheme finds its response.
    if (idempotencyKey === undefined || payment !== undefined) return this.#perform(run, call, signal)
    return this.#runKeyed(run, call, idempotencyKey, signal)
  }

  /** @throws SoukError */
  #admit(call: IncomingCall, startedAt: number): Run {
    const { apis } = this
    if (apis.isDraining) throw new SoukError('overloaded', 'This node is stopping.', { notAccepted: true })
    this.#pressure.admit(call.peer)
    const api = apis.get(call.api)
    if (api === undefined) throw new SoukError('api_not_found', undefined, { notAccepted: true })
    admit(api, call, apis.inFlightOf(api), this.#init.paymentScheme)
    // A request for the price, with an empty payment, writes nothing.
    if (call.payment !== '') refuseWork(this.#init.refusal?.())
    const permit = this.#limiter.enter(api.signed.id, call, limitsOf(api, this.#init.plans?.planOf(api.signed, call)))
    return new Run({ apis, api, permit, memory: this.#pressure.memoryOf(call.peer), startedAt })
  }

  /** Runs once for all calls with the same key. */
  async #runKeyed(run: Run, call: IncomingCall, key: string, signal: AbortSignal): Promise<CallResponse> {
    const { clock } = this.#init
    let keyed: IdempotentCall | CallRecord
    try {
      keyed = await this.#keyed.enter({ ...call, body: boundedBody(run.api, call.body) }, callerOf(call), key)
      if (!('end' in keyed)) {
        return run.overStored({ ...answeredBefore(keyed), ownerMs: clock.elapsed() - run.startedAt }, signal)
      }
    } catch (error) {
      run.leave()
      throw error
    }
    run.keyed = keyed
    const own = unlessOver(clock, call, signal)
    try {
      return await this.#perform(run, { ...call, body: keyed.body }, own.signal)
    } finally {
      own.follow()
      keyed.end()
    }
  }

  async #perform(run: Run, call: IncomingCall, signal: AbortSignal): Promise<CallResponse> {
    let reservation: Reservation | undefined
    let quota: QuotaReservation | undefined
    try {
      if (isUnderPlan(call)) quota = await this.#planned(run.api, call)
      const reserving = this.#reserve(run.api, call, quota?.price)
      reservation = reserving instanceof Promise ? await reserving : reserving
      if (reservation.replay !== undefined) return run.overStored(replayed(reservation.replay, call), signal)
      if (run.isCharged) throw await this.#refuseSecond(call, reservation)
      let reply = quota?.answer?.()
      if (reply === undefined) {
        try {
          reply = await ask(run, call, signal)
          checkDeliverable(reply)
        } catch (thrown) {
          throw await this.#failed(run, call, reservation, signal, thrown)
        }
      }
      const settled = await settle(reply, this.#replied(run, call, reply), reservation, quota)
      const answer = this.#answerOf(run, reply, settled, quota)
      quota = undefined
      return run.over(this.#streams.gated(run.api, call, reply, answer, signal), signal)
    } catch (error) {
      // A refused call does not count, because its payer may have to retry with a better payment.
      if (reservation === undefined) run.permit.giveBack()
      if (reservation === undefined) await run.keyed?.giveUp()
      await quota?.end(false)
      run.leave()
      throw error
    }
  }

  #answerOf(run: Run, reply: AdapterReply, settled: Settled, quota: QuotaReservation | undefined): CallResponse {
    const { status, headers, body } = reply
    const { charged, receipt, payment } = settled
    const upstreamMs = timeOf(reply)
    const ownerMs = this.#ownerMs(run, upstreamMs)
    return { status, headers, body, charged, receipt, ownerMs, upstreamMs, payment, quota: quota?.quota() }
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
      payment: paymentOf(call, this.#init.paymentScheme),
      authorization,
      payout: manifest.payout
    })
  }

  /** Books a call without a response, and returns its error. */
  async #failed(
    run: Run,
    call: IncomingCall,
    reservation: Reservation,
    signal: AbortSignal,
    thrown: unknown
  ): Promise<SoukError> {
    if (mayHaveReachedApi(thrown, signal)) run.permit.failed()
    // An adapter reports an abort with its own error. The signal has the reason.
    const error = asSoukError(signal.aborted ? signal.reason : thrown)
    const { status, code } = error
    const ownerMs = this.#init.clock.elapsed() - run.startedAt
    await reservation.release(this.#outcome(call, status, ownerMs, 0, { code, claim: run.keyed?.failed }))
    return error
  }

  /** Frees a payment that did not pay for the first call of this id. */
  async #refuseSecond(call: IncomingCall, reservation: Reservation): Promise<SoukError> {
    const error = new SoukError(
      'idempotency_mismatch',
      'Another payment paid for the call of this id. This one is unused.'
    )
    // The books have the first call, so they reject this record.
    await reservation.release(this.#outcome(call, error.status, 0, 0)).catch(ignore)
    return error
  }

  /** The outcome of a call with a response. */
  #replied(run: Run, call: IncomingCall, reply: AdapterReply): Outcome {
    const { status, success } = reply
    const upstreamMs = timeOf(reply)
    if (success) run.permit.succeeded()
    else run.permit.failed()
    return this.#outcome(call, status, this.#ownerMs(run, upstreamMs), upstreamMs, {
      response: storable(reply),
      claim: run.keyed?.answered(),
      rule: success ? ruleOf(reply) : undefined
    })
  }

  #ownerMs({ startedAt }: Run, upstreamMs: number): number {
    return Math.max(0, this.#init.clock.elapsed() - startedAt - upstreamMs)
  }

  #outcome(
    call: IncomingCall,
    status: number,
    ownerMs: number,
    upstreamMs: number,
    { code, rule, response, claim }: Pick<Outcome, 'code' | 'rule' | 'response' | 'claim'> = {}
  ): Outcome {
    const at = this.#init.clock.now()
    return { status, code, rule, requestHash: requestHash(call), at, ownerMs, upstreamMs, response, claim }
  }

  /** The stored response, with the receipt of its charge. @throws SoukError `overloaded`: its peer has too much to read */
  async #stored(record: CallRecord, call: IncomingCall): Promise<CallResponse> {
    const response = responseOf(record, call)
    const settled = record.charged > 0n ? await this.#init.paymentScheme.settled?.(record) : undefined
    const memory = this.#pressure.memoryOf(call.peer)
    memory.take(record.response?.body.length ?? 0)
    return { ...response, ...settled, free: () => memory.free() }
  }

  /**
   * Records and reports that the call went to an earlier process and may have reached the API, so that no later repeat runs it.
   * @throws SoukError `call_interrupted`, `overloaded`
   */
  async #interrupt(call: IncomingCall): Promise<never> {
    const interrupted = new SoukError('call_interrupted')
    const api = this.apis.get(call.api)
    if (api !== undefined) {
      this.#interruptions.count(call.peer)
      // Reserved at price 0: the record must be written even if the payment is refused now.
      const reservation = await this.#reserve(api, withoutPayment(call), 0n)
      const { status, code } = interrupted
      await reservation.release(this.#outcome(call, status, 0, 0, { code }))
    }
    throw interrupted
  }
}

/** @throws SoukError `payment_required` where the payment scheme accepts no such payments */
function paymentOf(call: IncomingCall, paymentScheme: PaymentScheme): Payment | undefined {
  if (call.payment === undefined) return undefined
  if (paymentScheme.takesPayments !== true)
    throw new SoukError('payment_required', 'This API accepts calls with a key only.')
  const { payment: text, idempotencyKey } = call
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  const resourceUrl = text === '' && call.headers.find(([name]) => name.toLowerCase() === RESOURCE_HEADER)?.[1]
  return { text, requestHash: requestHash(call), ...key, ...(resourceUrl && { resourceUrl }) }
}

/** The call without its payment, for a record that no payment covers. */
function withoutPayment({ payment: _, ...call }: IncomingCall): IncomingCall {
  return call
}

/** Forwards the call's trace to the API (W3C Trace Context). */
function headersOf({ headers, traceparent }: IncomingCall): Headers {
  return traceparent === undefined ? headers : [...headers, ['traceparent', traceparent]]
}

/** Sends one request to the upstream. */
function ask({ api, memory }: Run, call: IncomingCall, signal: AbortSignal): Promise<AdapterReply> {
  const { method, path, requestId } = call
  const { price, events } = api.signed.manifest
  const body = boundedBody(api, call.body)
  const request = { method, path, headers: headersOf(call), requestId, price, body, memory }
  return api.adapter.call(events === undefined ? request : { ...request, perEvent: true }, signal)
}

/** An adapter may report a wrong time. Negative times would not fit a frame. */
function timeOf({ upstreamMs }: AdapterReply): number {
  return Math.max(0, upstreamMs) || 0
}

/** Charges a success, and frees the reservation of anything else. */
function settle(
  reply: AdapterReply,
  outcome: Outcome,
  reservation: Reservation,
  quotaReservation: QuotaReservation | undefined
): Promise<Settled> {
  if (quotaReservation !== undefined) return settleUnderPlan(reply, outcome, reservation, quotaReservation)
  return reply.success ? reservation.capture(outcome, reply.price) : reservation.release(outcome)
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
