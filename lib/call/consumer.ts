import type { Logger } from '@libp2p/interface'
import { type ApiId, formatApiRef } from '../base/api-name.ts'
import { checkPrice } from '../base/check-price.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { inMs, reasonOf, SILENT_LOG } from '../base/component-log.ts'
import { asSoukError, SoukError, withUnknownCharge } from '../base/errors.ts'
import { givenUp } from '../base/given-up.ts'
import { TRIES_PER_OWNER_MAX, UPSTREAM_TIMEOUT_MS } from '../base/limits/call.ts'
import { type Atoms, formatUsdc } from '../base/money.ts'
import { isOutdated } from '../base/outdated-terms.ts'
import { formatRequestId, type RequestIds } from '../base/request-id.ts'
import type { Attempt, Call, CallResponse, Caller, CallTerms } from '../interface/call.ts'
import type { Resolution, Resolver } from '../interface/directory.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { EventTerms, Manifest } from '../interface/manifest.ts'
import type { CallInit, CallReply } from '../interface/souk.ts'
import type { Order, PaymentScheme } from '../interface/payment-scheme.ts'
import { callReply } from './call-reply.ts'
import { EventPayments, eventsToPay } from './event-payments.ts'
import { isAway, isForAll, isOwnersFault, mayBeCharged, mayRepeat, refusedByScheme } from './failed-attempt.ts'
import { type CallOutcomeSeen, seenResponse, seenError } from '../base/outcome-seen.ts'
import { isUnchanged, TermsRechecks, withPrices } from './outdated.ts'
import { ownerById, ownersFor, ownersOf } from './owners-to-try.ts'
import { callFor, consumerOf, orderFor, prepareCall, type PreparedCall, sentAs } from './prepared-call.ts'
import type { UsedKey, UsedKeys } from './used-keys.ts'
import { wholeReply } from './whole-reply.ts'

export interface ConsumerInit {
  readonly clock: Clock
  readonly resolver: Resolver
  readonly caller: Caller
  readonly paymentScheme: PaymentScheme
  readonly requestIds: RequestIds
  readonly usedKeys: UsedKeys
  /** `Store.refusal` of the store for payments. Default: never refuses. */
  readonly refusal?: () => SoukError | undefined
  /** Receives call results for quality scores. Default: none. */
  readonly observe?: (id: ApiId, owner: string, outcome: CallOutcomeSeen) => void
  /** Default: none. */
  readonly log?: Logger
}

/**
 * Makes calls: resolves the API, authorises the payment, and tries owners best first. It tries another owner in three
 * cases only: nothing was sent, the owner did not accept the call, or the API is declared idempotent.
 */
export class Consumer {
  readonly #init: ConsumerInit
  readonly #log: Logger
  readonly #rechecks: TermsRechecks

  constructor(init: ConsumerInit) {
    this.#init = init
    this.#log = init.log ?? SILENT_LOG
    this.#rechecks = new TermsRechecks(init.clock)
  }

  /** @throws SoukError */
  call(init: CallInit, terms?: CallTerms): Promise<CallReply> {
    const calling = this.#call(init, terms)
    return terms?.service === undefined ? calling : this.#whole(calling, init)
  }

  async #whole(calling: Promise<CallReply>, { timeoutMs = UPSTREAM_TIMEOUT_MS }: CallInit): Promise<CallReply> {
    return wholeReply(await calling, this.#init.clock, timeoutMs)
  }

  async #call(init: CallInit, terms: CallTerms | undefined): Promise<CallReply> {
    let prepared: PreparedCall | undefined
    try {
      prepared = prepareCall(init, this.#init.clock, this.#init.requestIds, terms)
      if (init.sentTo !== undefined) return await this.#askAgain(prepared, init.sentTo)
      const found = this.#init.resolver.cached?.(prepared.ref) ?? (await this.#lookUp(prepared, false))
      let isByTerms = false
      let first: CallReply | SoukError
      try {
        first = await this.#tryOwners(prepared, found)
      } catch (thrown) {
        first = asSoukError(thrown)
        isByTerms = this.#rechecks.isWorthIt(first, found)
        if (!isByTerms) throw first
      }
      if (!(first instanceof SoukError)) return first
      if ((!isByTerms && isAway(first, found)) || prepared.isSpent()) throw first
      // No owner accepted the call. The resolution may be outdated: owners may have moved or joined.
      const renewed = await this.#lookUp(prepared, true).catch((error: unknown) => {
        throw first.code === 'owner_unreachable' && prepared?.isChargeUnknown !== true ? error : first
      })
      if (isByTerms && isUnchanged(found, renewed)) throw first
      const second = await this.#retryOwners(prepared, found, renewed, first)
      if (second instanceof SoukError) throw second
      return second
    } catch (thrown) {
      const error = init.signal?.aborted === true ? givenUp(init.signal) : asSoukError(thrown)
      if (this.#log.enabled) this.#log('%s %s fails: %s', ...named(prepared, init), reasonOf(error))
      throw prepared?.isChargeUnknown === true ? withUnknownCharge(error) : error
    }
  }

  async #lookUp({ ref, signal, deadlineAt }: PreparedCall, refresh: boolean): Promise<Resolution> {
    const { clock, resolver } = this.#init
    const limit = deadline(clock, deadlineAt - clock.elapsed(), () => new SoukError('lookup_timeout'), signal)
    try {
      return await resolver.resolve(ref, { signal: limit.signal, refresh, isForCall: true })
    } finally {
      limit.clear()
    }
  }

  /** As `#tryOwners`, after a new lookup. */
  async #retryOwners(
    prepared: PreparedCall,
    found: Resolution,
    renewed: Resolution,
    first: SoukError
  ): Promise<CallReply | SoukError> {
    try {
      return await this.#tryOwners(prepared, renewed, first)
    } catch (error) {
      throw withPrices(asSoukError(error), found, renewed)
    }
  }

  /**
   * Returns the reply, or the last error when no owner accepted the call. Not async, because a call that has its terms
   * and no key waits for nothing here. @throws SoukError when an owner accepted the call and it failed
   */
  #tryOwners(prepared: PreparedCall, found: Resolution, last?: SoukError): Promise<CallReply | SoukError> {
    const { init, terms, refusedBy } = prepared
    const { manifest } = found.signed
    if (terms === undefined && manifest.payPerCall === false) throw new SoukError('subscription_required')
    const owners = ownersFor(prepared, found)
    const telling = owners.length > 0 ? this.#tellPrice(prepared, terms?.price ?? manifest.price) : undefined
    // A second lookup may return the same owners with new addresses. Only owners that were unreachable are tried again.
    const untried = refusedBy === undefined ? owners : owners.filter((owner) => !refusedBy.has(owner.id))
    const lookupMs = this.#init.clock.elapsed() - prepared.startedAt
    const offer: Offer = { prepared, found, owners: untried, lookupMs, payMs: 0, last, key: undefined, paid: undefined }
    if (telling !== undefined || init.idempotencyKey !== undefined) return this.#offerAfter(telling, offer)
    this.#checkStore(offer)
    return this.#offer(offer)
  }

  /** @throws SoukError the refusal of the store for payments */
  #checkStore({ prepared, found }: Offer): void {
    const isPaid = found.signed.manifest.price > 0n && prepared.init.payment === undefined
    const refusal = isPaid ? this.#init.refusal?.() : undefined
    if (refusal !== undefined) throw refusal
  }

  /** Offers the call once its price is agreed and its idempotency key is stored. */
  async #offerAfter(telling: void | Promise<void>, offer: Offer): Promise<CallReply | SoukError> {
    await telling
    this.#checkStore(offer)
    const { prepared, found } = offer
    const key = await this.#keyOf(prepared, found, offer.owners)
    if (key === undefined) return this.#offer(offer)
    offer.key = key
    if (key.before !== undefined) offer.owners = ownersOf(key, found, prepared.refusedBy)
    try {
      return await this.#offer(offer)
    } finally {
      await key.end()
    }
  }

  /** A payment needs no key, because the owner's books and the chain record the call it paid for. */
  async #keyOf({ init }: PreparedCall, { signed }: Resolution, owners: readonly PeerAddress[]) {
    const { idempotencyKey: key, payment } = init
    const [first] = owners
    if (key === undefined || payment !== undefined || first === undefined) return undefined
    return this.#init.usedKeys.use({ api: signed.id, consumer: consumerOf(init, signed.id), key }, first.id)
  }

  /**
   * Tries the owners in turn until one accepts the call. Returns like `#tryOwners`. An async function keeps each of its
   * variables in memory while it waits, so this one has few.
   */
  async #offer(offer: Offer): Promise<CallReply | SoukError> {
    for (const owner of offer.owners) {
      const order = this.#orderOf(offer, owner)
      if (offer.key !== undefined) await offer.key.sendTo(owner.id)
      let attempt = await this.#ask(offer, order, owner)
      for (let tries = 1; this.#isRetry(offer, order, attempt, tries); tries++)
        attempt = await this.#ask(offer, order, owner)
      const noted = this.#accept(offer, order, attempt)
      if (noted !== undefined) await noted
      const result = this.#resultOf(offer, order, owner, attempt)
      if (result !== undefined) return result
    }
    return offer.last ?? new SoukError('owner_unreachable')
  }

  /** @throws SoukError the last error of the call, where it has no time left for this owner */
  #orderOf({ prepared, found, last }: Offer, owner: PeerAddress): Order {
    if (this.#init.clock.elapsed() >= prepared.deadlineAt) throw last ?? new SoukError('owner_unreachable')
    return orderFor(prepared, found, owner.id)
  }

  /** Authorises the payment and calls the owner. */
  #ask(offer: Offer, order: Order, owner: PeerAddress): Promise<Attempt> {
    const { paymentScheme, clock } = this.#init
    offer.paid = undefined
    if (offer.prepared.init.payment !== undefined) return this.#send(offer, order, owner, undefined)
    const startedAt = clock.elapsed()
    let authorising: ReturnType<PaymentScheme['authorise']>
    try {
      authorising = paymentScheme.authorise(order)
    } catch (error) {
      return Promise.resolve(refusedByScheme(asSoukError(error)))
    }
    if (authorising instanceof Promise) return this.#askLater(offer, order, owner, authorising, startedAt)
    offer.payMs += clock.elapsed() - startedAt
    return this.#send(offer, order, owner, authorising)
  }

  async #askLater(
    offer: Offer,
    order: Order,
    owner: PeerAddress,
    authorising: Promise<Uint8Array | undefined>,
    startedAt: number
  ): Promise<Attempt> {
    let authorization: Uint8Array | undefined
    try {
      authorization = await authorising
    } catch (error) {
      return refusedByScheme(asSoukError(error))
    }
    offer.payMs += this.#init.clock.elapsed() - startedAt
    return this.#send(offer, order, owner, authorization)
  }

  #send(offer: Offer, order: Order, owner: PeerAddress, authorization: Uint8Array | undefined): Promise<Attempt> {
    const { prepared, found, key } = offer
    const { api, events } = found.signed.manifest
    const extras = { authorization, api, keyUse: key?.before, events: eventsFor(prepared, events, order) }
    const call = callFor(prepared, order, this.#init.clock.elapsed(), extras)
    if (prepared.init.payment === undefined) offer.paid = call
    return this.#init.caller.call(owner, call, prepared.signal)
  }

  /** Whether the payment scheme learned something from a refusal, so that the same owner may accept the call now. */
  #isRetry({ prepared, paid }: Offer, order: Order, attempt: Attempt, tries: number): boolean {
    if (attempt.fate === 'answered' || paid === undefined) return false
    return this.#init.paymentScheme.fail(order, attempt) && tries < TRIES_PER_OWNER_MAX && !prepared.isSpent()
  }

  /** Tells the payment scheme about a response. */
  #accept({ paid }: Offer, order: Order, attempt: Attempt): void | Promise<void> {
    if (attempt.fate !== 'answered' || paid === undefined) return undefined
    const { status, charged, receipt } = attempt.answer
    return this.#init.paymentScheme.accept(order, { status, charged, receipt }, sentAs(paid, attempt))
  }

  /**
   * The reply, or the error after which no other owner is tried before a new lookup. Undefined: another owner may
   * accept the call. @throws SoukError when no other owner may be tried
   */
  #resultOf(offer: Offer, order: Order, owner: PeerAddress, attempt: Attempt): CallReply | SoukError | undefined {
    const { prepared, found, lookupMs, payMs, key } = offer
    key?.note(attempt)
    if (this.#log.enabled) this.#logAttempt(prepared, order, attempt, offer)
    if (attempt.fate !== 'answered') return this.#errorOf(offer, order, owner, attempt)
    const { id, manifest } = found.signed
    const { ms } = attempt
    const answer = this.#paying(prepared, manifest, owner, order, attempt.answer)
    this.#init.resolver.report(id, owner.id, { ok: true, ms })
    this.#observe(id, owner.id, seenResponse(answer.status, ms))
    const charged = this.#paid(order, answer.charged, prepared.init.payment !== undefined)
    const totalMs = this.#init.clock.elapsed() - prepared.startedAt
    return callReply({ order, manifest, answer, charged, lookupMs, payMs, totalMs })
  }

  /** As `#resultOf`, for an attempt without a response. */
  #errorOf(offer: Offer, order: Order, owner: PeerAddress, attempt: FailedAttempt): SoukError | undefined {
    const { prepared, found } = offer
    const { init, terms } = prepared
    const { id, manifest } = found.signed
    const { error } = attempt
    if (mayBeCharged(attempt) && this.#isPaid(order, init)) prepared.isChargeUnknown = true
    // One owner's refusal is more useful to the caller than that another one is unreachable. A broken link is not.
    const isLess = attempt.fate === 'not_accepted' && error.code === 'owner_unreachable'
    const last = isLess && offer.last?.code !== 'call_interrupted' ? (offer.last ?? error) : error
    offer.last = last
    if (init.signal?.aborted !== true) this.#observe(id, owner.id, seenError(error))
    if (prepared.signal?.aborted === true || isForAll(last, prepared)) throw last
    if (isOwnersFault(attempt, found)) this.#init.resolver.report(id, owner.id, { ok: false })
    const mayGoOn =
      attempt.fate === 'not_accepted' || mayRepeat(attempt, manifest.idempotent && terms?.service === undefined)
    if (prepared.isSpent() || !mayGoOn) throw last
    if (isOutdated(error, manifest.revision)) return error
    if (error.code !== 'owner_unreachable') (prepared.refusedBy ??= new Set()).add(owner.id)
    return undefined
  }

  /** Adds payments for further events to the response body, at most at the manifest's price. */
  #paying(
    prepared: PreparedCall,
    { events }: Manifest,
    owner: PeerAddress,
    order: Order,
    answer: CallResponse
  ): CallResponse {
    const { body, eventPrice: price = 0n } = answer
    const most = eventsFor(prepared, events, order)
    const isAgreed = events !== undefined && price > 0n && price <= events.price
    if (!isAgreed || most === 0 || body instanceof Uint8Array) return answer
    const { clock, paymentScheme, caller, requestIds } = this.#init
    const { eventBudget: budget } = prepared.init
    const paying = {
      clock,
      paymentScheme,
      caller,
      requestIds,
      owner,
      order,
      price,
      most,
      ...(budget === undefined ? {} : { budget })
    }
    return { ...answer, body: new EventPayments(paying).paying(body) }
  }

  #logAttempt(
    { requestId, startedAt }: PreparedCall,
    { api, owner, price }: Order,
    attempt: Attempt,
    { lookupMs, payMs }: { readonly lookupMs: number; readonly payMs: number }
  ): void {
    const result =
      attempt.fate === 'answered'
        ? `${attempt.answer.status} in ${inMs(attempt.ms)}, charged ${formatUsdc(attempt.answer.charged)} of ${formatUsdc(price)} USDC`
        : `${attempt.fate}, ${reasonOf(attempt.error)}`
    const totalMs = this.#init.clock.elapsed() - startedAt
    const times = `lookup ${inMs(lookupMs)}, payment ${inMs(payMs)}, so far ${inMs(totalMs)}`
    this.#log('%s %s at %s: %s (%s)', formatRequestId(requestId), api, owner, result, times)
  }

  #observe(id: ApiId, owner: string, outcome: CallOutcomeSeen | undefined): void {
    if (outcome !== undefined) this.#init.observe?.(id, owner, outcome)
  }

  /** @throws SoukError `price_exceeds_limit`, and any error of `onPrice` */
  #tellPrice({ init, maxPrice }: PreparedCall, price: Atoms): void | Promise<void> {
    checkPrice(price, maxPrice)
    return this.#init.paymentScheme.movesMoney && price > 0n ? init.onPrice?.(price) : undefined
  }

  #isPaid({ price }: Order, { payment }: CallInit): boolean {
    return price > 0n && (payment !== undefined || this.#init.paymentScheme.movesMoney)
  }

  /**
   * The amount charged. An owner's claim is limited to the promised price, because it cannot collect more. A client's
   * own payment concerns client and owner only: this node promised nothing, and its price may be outdated.
   */
  #paid({ price }: Order, charged: Atoms, byOthers: boolean): Atoms {
    if (byOthers) return charged
    if (!this.#init.paymentScheme.movesMoney) return 0n
    return charged < price ? charged : price
  }

  /**
   * Queries the outcome of an earlier attempt. Its payment was authorised then; the owner's ledger records the charge.
   */
  async #askAgain(prepared: PreparedCall, ownerId: string): Promise<CallReply> {
    const { clock } = this.#init
    if (prepared.init.requestId === undefined || !(prepared.body instanceof Uint8Array)) {
      throw new SoukError('invalid_request', 'To repeat a call, send its request id and the same body as bytes.')
    }
    const found = this.#init.resolver.cached?.(prepared.ref) ?? (await this.#lookUp(prepared, false))
    const lookupMs = clock.elapsed() - prepared.startedAt
    const owner = ownerById(ownerId, found.owners)
    const order = orderFor(prepared, found, ownerId)
    const attempt = await this.#init.caller.call(
      owner,
      { ...callFor(prepared, order, clock.elapsed()), isRepeat: true },
      prepared.signal
    )
    if (attempt.fate === 'answered') {
      const { answer } = attempt
      const charged = this.#paid(order, answer.charged, false)
      const totalMs = clock.elapsed() - prepared.startedAt
      return callReply({ order, manifest: found.signed.manifest, answer, charged, lookupMs, payMs: 0, totalMs })
    }
    if (mayBeCharged(attempt) && this.#isPaid(order, prepared.init)) prepared.isChargeUnknown = true
    if (attempt.fate !== 'lost') throw attempt.error
    const detail = 'The owner is unreachable, and the outcome of the call is unknown.'
    throw new SoukError('owner_unreachable', detail, { cause: attempt.error })
  }
}

/** A call and the owners to try. It has all fields from the start, because each call makes one. */
interface Offer {
  readonly prepared: PreparedCall
  readonly found: Resolution
  owners: readonly PeerAddress[]
  readonly lookupMs: number
  /** Time that payments took. */
  payMs: number
  /** The error of the last attempt. */
  last: SoukError | undefined
  /** Present for a call with an idempotency key. */
  key: UsedKey | undefined
  /** The last sent call, if the payment scheme pays for it. Undefined where it refused, or the client pays. */
  paid: Call | undefined
}

type FailedAttempt = Exclude<Attempt, { fate: 'answered' }>

/** A call's request id and API for log lines. An invalid call has no request id yet. */
function named(prepared: PreparedCall | undefined, { api }: CallInit): [id: string, api: string] {
  const id = prepared === undefined ? '-' : formatRequestId(prepared.requestId)
  return [id, formatApiRef(prepared?.ref ?? (typeof api === 'string' ? { name: '(not valid)' } : api))]
}

/** Number of events that the call pays for beyond its opening. A payment by the client covers the call only. */
function eventsFor({ init, terms, maxPrice }: PreparedCall, events: EventTerms | undefined, { price }: Order): number {
  return init.payment === undefined && terms?.paysEvents !== false ? eventsToPay(events, price, maxPrice) : 0
}
