import { type ApiRef, parseApiRef } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { asSoukError, SoukError, withUnknownCharge } from '../base/errors.ts'
import { givenUp } from '../base/given-up.ts'
import { PAID_PERIOD_PERCENT, RENEWAL_PAUSE_MS } from '../base/limits/plans.ts'
import { DAY_MS } from '../base/limits/time.ts'
import { type Atoms, formatUsdc, parseUsdc } from '../base/money.ts'
import { KeyedMutex } from '../base/mutex.ts'
import { formatRequestId, type RequestIds, requestIdBytes } from '../base/request-id.ts'
import { SingleFlight } from '../base/single-flight.ts'
import { within } from '../base/within.ts'
import { type CallTerms, SUBSCRIPTION_SERVICE } from '../interface/call.ts'
import type { Resolution, ResolveOptions } from '../interface/directory.ts'
import type { Plan } from '../interface/plan.ts'
import type { CallInit, CallReply } from '../interface/souk.ts'
import type {
  OwnSubscription,
  SubscribeInit,
  SubscriptionChange,
  SubscriptionOptions,
  Subscriptions,
  SubscriptionTerms
} from '../interface/subscription.ts'
import { consumerOf } from './account-name.ts'
import { dearestPrice } from './bands.ts'
import { plusPeriods } from './calendar.ts'
import type { DailySpend } from './daily-spend.ts'
import { readReply, type SubscriptionReply, type SubscriptionRequest, writeRequest } from './messages.ts'
import { whenDepositCounts } from './fee-wait.ts'
import { nextTerms, openPlan } from './next-terms.ts'
import type { OwnRecord, OwnRecords, PendingChange } from './own-records.ts'
import {
  chargeIn,
  checkFee,
  checkInit,
  isDefinite,
  noSuchPlan,
  OF_THIS_OWNER,
  termsOf,
  UNREACHED,
  withLimits
} from './own-terms.ts'
import { readResponse } from './read-response.ts'
import { isDue, stateAt, takesCalls } from './sold-subscription.ts'

export interface OwnSubscriptionsInit {
  readonly clock: Clock
  readonly requestIds: RequestIds
  /** Peer id of this node. */
  readonly self: string
  readonly records: OwnRecords
  readonly spend: DailySpend
  readonly resolve: (ref: ApiRef, options: Partial<ResolveOptions>) => Promise<Resolution>
  readonly call: (init: CallInit, terms: CallTerms) => Promise<CallReply>
  readonly sold: Subscriptions['sold']
}

/** A request to the owner, and its maximum price. */
interface Wish {
  readonly request: SubscriptionRequest
  readonly price: Atoms
  /** The plan that the request agrees to. */
  readonly plan?: Plan
}

/**
 * The subscriptions that a node holds as a consumer. A request is stored before it is sent. After a crash the owner
 * reports its result, so nothing is requested or paid twice.
 */
export class OwnSubscriptions implements Subscriptions {
  readonly #init: OwnSubscriptionsInit
  readonly #renewing = new SingleFlight<string, SubscriptionChange>()
  /** By subscription whose period is over for this clock and not for its owner's: when to ask again, on the clock's `elapsed`. */
  readonly #lasting = new Map<string, number>()
  /** One change at a time per subscription. */
  readonly #changes = new KeyedMutex()
  readonly sold: Subscriptions['sold']

  constructor(init: OwnSubscriptionsInit) {
    this.#init = init
    this.sold = init.sold
  }

  list(): Promise<readonly OwnSubscription[]> {
    return this.#init.records.list()
  }

  async get(id: string): Promise<OwnSubscription | undefined> {
    const record = await this.#init.records.find(id)
    return record && this.#init.records.shown(record)
  }

  async subscribe(init: SubscribeInit, options: SubscriptionOptions = {}): Promise<SubscriptionChange> {
    const { records, requestIds } = this.#init
    const { id = formatRequestId(requestIds.next()) } = init
    checkInit(init, id)
    return this.#changes.run(id, async () => {
      const known = await records.find(id)
      if (known !== undefined) {
        const settled = await this.#settled(known, options)
        // Otherwise no owner has sold it: the request was lost.
        if (settled.subscription.version > 0) return this.#unchanged(settled)
      }
      return this.#subscribe(init, id, options)
    })
  }

  async renew(id: string, options: SubscriptionOptions = {}): Promise<SubscriptionChange> {
    const { signal, ...others } = options
    if (signal?.aborted === true) throw givenUp(signal)
    const isFirst = this.#renewing.get(id) === undefined
    // Shared by all callers that need the period, so no single caller's signal may end it.
    const renewing = this.#renewing.run(id, () => this.#changes.run(id, () => this.#renew(id, others)))
    const change = await within(renewing, signal).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error
      throw isFirst ? withUnknownCharge(givenUp(signal)) : givenUp(signal)
    })
    // A later caller requested nothing itself.
    return isFirst ? change : { subscription: change.subscription, charged: 0n }
  }

  /** Its owner has refused a call because the period is over. */
  ended(id: string): void {
    this.#lasting.delete(id)
  }

  change(id: string, terms: SubscriptionTerms, options: SubscriptionOptions = {}): Promise<SubscriptionChange> {
    return this.#changes.run(id, async () => {
      const { records } = this.#init
      const settled = await this.#settled(await records.get(id), options)
      const record = await records.put(withLimits(settled, terms))
      if (terms.plan === undefined) return this.#unchanged(record)
      const { api, plan } = record.subscription
      const { manifest } = (await this.#look(parseApiRef(api), options)).signed
      const wanted = openPlan(manifest, terms.plan)
      if (wanted === undefined) throw noSuchPlan(manifest)
      checkFee(wanted.fee, record.maxFee)
      const isSame = wanted.id === plan.id && wanted.since === plan.since
      const state = stateAt(record.subscription, this.#init.clock.now())
      const paid = state === 'trialing' ? 0n : plan.fee
      const isAtOnce = !isSame && takesCalls(state) && wanted.fee > paid
      const request = { id, action: 'change', ...termsOf(wanted) } as const
      return this.#ask(record, { request, price: isAtOnce ? wanted.fee : 0n, plan: wanted }, options)
    })
  }

  /** Effective on this node at once, even if the owner is unreachable or has deleted it, because this node pays. */
  cancel(
    id: string,
    { now = false, ...options }: SubscriptionOptions & { now?: boolean } = {}
  ): Promise<SubscriptionChange> {
    return this.#changes.run(id, async () => {
      const { records, clock } = this.#init
      const record = await this.#settled(await records.get(id), options)
      try {
        return await this.#ask(record, { request: { id, action: 'cancel', now }, price: 0n }, options)
      } catch (error) {
        const { code } = asSoukError(error)
        if (!UNREACHED.has(code) && code !== 'subscription_inactive') throw error
        const state = stateAt(record.subscription, clock.now())
        const isOver = now || !takesCalls(state)
        const subscription = { ...record.subscription, state: isOver ? 'canceled' : 'canceling' } as const
        return this.#unchanged(await records.put({ ...record, subscription }))
      }
    })
  }

  pause(id: string, options: SubscriptionOptions = {}): Promise<SubscriptionChange> {
    return this.#simply(id, 'pause', options)
  }

  resume(id: string, options: SubscriptionOptions = {}): Promise<SubscriptionChange> {
    return this.#simply(id, 'resume', options)
  }

  /** Finds the result of a change that an earlier process sent, or that was sent over a broken link. */
  async settle(id: string, options: SubscriptionOptions = {}): Promise<OwnRecord> {
    const record = await this.#init.records.get(id)
    if (record.pending === undefined) return record
    return this.#changes.run(id, async () => this.#settled(await this.#init.records.get(id), options))
  }

  async #subscribe(init: SubscribeInit, id: string, options: SubscriptionOptions): Promise<SubscriptionChange> {
    const { clock, records, self } = this.#init
    const ref = typeof init.api === 'string' ? parseApiRef(init.api) : init.api
    const { signed, owners } = await this.#look(ref, options)
    const { manifest } = signed
    const plan = openPlan(manifest, init.plan)
    if (plan === undefined) throw noSuchPlan(manifest)
    const maxFee = init.maxFee === undefined ? plan.fee : parseUsdc(init.maxFee)
    checkFee(plan.fee, maxFee)
    const { account, peers = [], dailyCap } = init
    const trial = (init.trial ?? true) && plan.trialDays > 0
    const request = { id, action: 'subscribe', trial, peers, ...(account && { account }), ...termsOf(plan) } as const
    const now = clock.now()
    let last = new SoukError('owner_unreachable')
    for (const owner of owners) {
      const record: OwnRecord = {
        subscription: {
          id,
          api: signed.id,
          plan,
          revision: manifest.revision,
          major: manifest.major ?? 1,
          peer: self,
          peers,
          ...(account === undefined ? {} : { account }),
          owner: owner.id,
          state: 'incomplete',
          createdAt: now,
          periodStart: now,
          periodEnd: now,
          version: 0
        },
        isShared: false,
        maxPrice: parseUsdc(init.maxPrice),
        maxFee,
        ...(dailyCap === undefined ? {} : { dailyCap: parseUsdc(dailyCap) })
      }
      try {
        return await this.#ask(record, { request, price: trial ? 0n : plan.fee, plan }, options)
      } catch (error) {
        last = asSoukError(error)
        if (!isDefinite(last)) throw last
        await records.delete(id)
        const isElsewhere = (last.notAccepted && !OF_THIS_OWNER.has(last.code)) || UNREACHED.has(last.code)
        if (!isElsewhere || options.signal?.aborted === true) throw last
      }
    }
    throw last
  }

  async #renew(id: string, options: SubscriptionOptions): Promise<SubscriptionChange> {
    const { records, clock } = this.#init
    const record = await this.#settled(await records.get(id), options)
    const { subscription, maxFee, maxPrice, paidUntil = 0 } = record
    const now = clock.now()
    if (!isDue(subscription, now)) {
      if (takesCalls(stateAt(subscription, now))) return this.#unchanged(record)
      throw new SoukError('subscription_inactive', `The subscription is ${stateAt(subscription, now)}.`)
    }
    if (clock.elapsed() < (this.#lasting.get(id) ?? 0)) return this.#unchanged(record)
    // An owner could end each period at once.
    if (now < paidUntil) throw endedEarly(paidUntil, now)
    const { manifest } = (await this.#look(parseApiRef(subscription.api), options)).signed
    const next = nextTerms(subscription, manifest, now)
    if (next === undefined) throw new SoukError('subscription_inactive', 'Its plan is no longer offered.')
    checkFee(next.fee, maxFee)
    // A subscriber is never moved to prices above its limit.
    const isMoved = next.id !== subscription.plan.id || next.since !== subscription.plan.since
    if (isMoved && dearestPrice(next) > maxPrice) {
      const detail = `The plan has changed. Its calls cost up to ${formatUsdc(dearestPrice(next))} USDC, above your limit.`
      throw new SoukError('price_exceeds_limit', detail)
    }
    const { periodEnd } = subscription
    const request = { id, action: 'renew', periodEnd, ...termsOf(next) } as const
    const change = await this.#ask(record, { request, price: next.fee, plan: next }, options)
    const isLasting = change.charged === 0n && change.subscription.periodEnd === periodEnd
    if (isLasting) this.#lasting.set(id, clock.elapsed() + RENEWAL_PAUSE_MS)
    else this.#lasting.delete(id)
    return change
  }

  /** Resolves the API again, or uses the cached resolution. The owner refuses outdated terms. */
  async #look(ref: ApiRef, { signal }: SubscriptionOptions): Promise<Resolution> {
    const { resolve } = this.#init
    const options = signal === undefined ? {} : { signal }
    try {
      return await resolve(ref, { ...options, refresh: true })
    } catch (error) {
      return resolve(ref, options).catch(() => {
        throw error
      })
    }
  }

  #simply(id: string, action: 'pause' | 'resume', options: SubscriptionOptions): Promise<SubscriptionChange> {
    return this.#changes.run(id, async () => {
      const record = await this.#settled(await this.#init.records.get(id), options)
      return this.#ask(record, { request: { id, action }, price: 0n }, options)
    })
  }

  async #ask(
    record: OwnRecord,
    { request, price, plan }: Wish,
    options: SubscriptionOptions
  ): Promise<SubscriptionChange> {
    const { records, requestIds, spend, clock } = this.#init
    const requestId = requestIds.next()
    const body = writeRequest(request)
    const pending = {
      requestId: formatRequestId(requestId),
      body: Buffer.from(body).toString('base64'),
      price,
      ...(plan === undefined ? {} : { plan })
    }
    const allowed = await spend.allow(request.id, record.dailyCap, price)
    await records.put({ ...record, pending }).catch((error: unknown) => {
      // Nothing was sent.
      allowed.end(0n)
      throw error
    })
    const send = () => this.#send(record, { requestId, body, price, options })
    const reply = await whenDepositCounts(clock, options, send).catch(async (error: unknown) => {
      if (isDefinite(asSoukError(error))) {
        allowed.end(0n)
        await records.put(record)
      }
      throw error
    })
    allowed.end(reply.charged)
    try {
      // Before the change counts as done: after a crash in between it is told again.
      if (reply.charged > 0n) await options.onSettled?.(reply.charged, pending.requestId)
      const kept = await records.put(told(record, reply, clock.now(), plan))
      return { subscription: records.shown(kept), charged: reply.charged, requestId: pending.requestId }
    } catch (error) {
      // Stays pending, so that a repeat does not pay again.
      throw withUnknownCharge(asSoukError(error))
    }
  }

  /** The record after its pending change has a result. @throws SoukError where its owner is unreachable */
  async #settled(record: OwnRecord, options: SubscriptionOptions): Promise<OwnRecord> {
    const { records } = this.#init
    const { pending, ...rest } = record
    if (pending === undefined) return record
    const signal = options.signal === undefined ? {} : { signal: options.signal }
    let reply: Answer | SoukError
    try {
      const requestId = requestIdBytes(pending.requestId)
      const body = Uint8Array.from(Buffer.from(pending.body, 'base64'))
      const sentTo = record.subscription.owner
      reply = await this.#send(record, { requestId, body, price: pending.price, options: signal, sentTo })
    } catch (thrown) {
      reply = asSoukError(thrown)
      if (UNREACHED.has(reply.code) || options.signal?.aborted === true) throw reply
    }
    if (!(reply instanceof SoukError)) return this.#hear(rest, pending, reply, options)
    // The change never ran, or its response was deleted. The current state shows which.
    try {
      const request = writeRequest({ id: rest.subscription.id, action: 'show' })
      const requestId = this.#init.requestIds.next()
      const shown = await this.#send(record, { requestId, body: request, price: 0n, options: signal })
      const charged = chargeIn(reply, pending.price) ?? (isMade(rest, pending, shown) ? pending.price : 0n)
      return await this.#hear(rest, pending, { ...shown, charged }, options)
    } catch (error) {
      if (asSoukError(error).code !== 'subscription_inactive') throw error
      const isNothing = rest.subscription.state === 'incomplete'
      if (!isNothing) return records.put(rest)
      return records.put({ ...rest, subscription: { ...rest.subscription, state: 'canceled' } })
    }
  }

  /** The record after its pending change, whose result the owner has told. */
  async #hear(
    rest: OwnRecord,
    pending: PendingChange,
    answer: Answer,
    { onSettled }: SubscriptionOptions
  ): Promise<OwnRecord> {
    const { records, clock } = this.#init
    if (answer.charged > 0n) await onSettled?.(answer.charged, pending.requestId)
    return records.put(told(rest, answer, clock.now(), agreedIn(pending, answer)))
  }

  async #send({ subscription }: OwnRecord, { requestId, body, price, options, sentTo }: Sending): Promise<Answer> {
    const { api, id, owner } = subscription
    const consumer = consumerOf(subscription.account)
    const { signal, onPrice } = options
    const terms = {
      service: SUBSCRIPTION_SERVICE,
      price,
      maxPrice: price,
      isFee: true,
      owner,
      isOnly: true,
      paysEvents: false
    } as const
    const reply = await this.#init.call(
      {
        api,
        body,
        requestId,
        ...(signal && { signal }),
        ...(onPrice && { onPrice }),
        ...(consumer && { consumer: () => consumer }),
        ...(sentTo === undefined ? {} : { sentTo })
      },
      terms
    )
    const answer = readReply(await readResponse(reply.body))
    if (answer.id !== id || answer.api !== api) {
      throw new SoukError('upstream_invalid_response', 'The owner returned another subscription.', { source: 'owner' })
    }
    return { told: answer, charged: reply.charged }
  }

  #unchanged(record: OwnRecord): SubscriptionChange {
    return { subscription: this.#init.records.shown(record), charged: 0n }
  }
}

interface Sending {
  readonly requestId: Uint8Array
  readonly body: Uint8Array
  readonly price: Atoms
  readonly options: SubscriptionOptions
  readonly sentTo?: string
}

/** An owner's response to a request. */
interface Answer {
  readonly told: SubscriptionReply
  readonly charged: Atoms
}

function endedEarly(paidUntil: number, now: number): SoukError {
  const days = Math.ceil((paidUntil - now) / DAY_MS)
  const detail = `The owner ended the paid period early. This node pays for another one only after the paid time, in ${days} days.`
  return new SoukError('subscription_inactive', detail, { retryAfterMs: paidUntil - now })
}

/** The plan that a pending change agrees to. An earlier version stored no plan, and took the reported one. */
const agreedIn = ({ plan, period }: PendingChange, { told: reported }: Answer): Plan | undefined =>
  plan ?? (period && { ...reported.plan, period })

/** True if the owner shows that it made the pending change, though it does not know its call any more. */
function isMade({ subscription }: OwnRecord, pending: PendingChange, shown: Answer): boolean {
  const { plan, version } = shown.told
  const agreed = agreedIn(pending, shown)
  return version > subscription.version && plan.id === agreed?.id && plan.since === agreed.since
}

/**
 * Applies the owner's report, unless it is outdated. The plan and its terms stay as this node agreed to them, whatever the report
 * says. A fee paid for a period that begins now, or began shortly before.
 */
function told(
  record: OwnRecord,
  { told: { isShared, plan: reported, nextPlan, ...state }, charged }: Answer,
  now: number,
  agreed: Plan = record.subscription.plan
): OwnRecord {
  const { pending: _, ...rest } = record
  const { plan: before, version, nextPlan: known } = record.subscription
  const isAgreed = reported.id === agreed.id && reported.since === agreed.since
  const isNext = nextPlan === known || (!isAgreed && nextPlan === agreed.id)
  const plan = isAgreed ? agreed : before
  const subscription = { ...state, plan, ...(nextPlan === undefined || !isNext ? {} : { nextPlan }) }
  const heard = { ...rest, isShared, subscription: state.version > version ? subscription : record.subscription }
  if (charged === 0n) return heard
  const { period } = agreed
  return { ...heard, paidUntil: now + ((plusPeriods(now, period, 1) - now) * PAID_PERIOD_PERCENT) / 100 }
}
