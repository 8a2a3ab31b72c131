import { parseApiRef } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { ignore } from '../base/ignore.ts'
import { type Atoms, parseUsdc } from '../base/money.ts'
import { requestIdBytes } from '../base/request-id.ts'
import type { CallTerms } from '../interface/call.ts'
import type { CallInit, CallReply } from '../interface/souk.ts'
import type { Quota, SubscriptionOptions } from '../interface/subscription.ts'
import { dearestPrice } from './bands.ts'
import type { DailySpend } from './daily-spend.ts'
import type { OwnRecord, OwnRecords } from './own-records.ts'
import type { OwnSubscriptions } from './own-subscriptions.ts'
import { isDue, stateAt, takesCalls } from './sold-subscription.ts'

export interface PlanCallerInit {
  readonly clock: Clock
  readonly records: OwnRecords
  readonly spend: DailySpend
  readonly subscriptions: Pick<OwnSubscriptions, 'renew' | 'settle' | 'ended'>
  readonly call: (init: CallInit, terms: CallTerms) => Promise<CallReply>
}

/** Makes calls under a subscription. Renews it where due, and never exceeds its holder's limits. */
export class PlanCaller {
  readonly #init: PlanCallerInit

  constructor(init: PlanCallerInit) {
    this.#init = init
  }

  /** @throws SoukError `subscription_inactive`, `spend_cap_reached`, and any error of a call */
  async call(init: CallInit, id: string): Promise<CallReply> {
    const { records, subscriptions } = this.#init
    checkInit(init)
    const record = await subscriptions.settle(id, signalOf(init))
    checkApi(init, record)
    const first = await this.#ready(init, record)
    try {
      return await this.#call(init, first.record, first.fee)
    } catch (error) {
      // The owner's clock decides, so the period may end a little earlier than here.
      if (!isOver(asSoukError(error), id) || first.fee !== undefined || init.sentTo !== undefined) throw error
      const { subscription } = first.record
      if (!isDue(subscription, subscription.periodEnd)) throw error
      subscriptions.ended(id)
      const fee = await this.#renew(init, id)
      return this.#call(init, await records.get(id), fee)
    }
  }

  /** The record, after paying a due period. */
  async #ready(init: CallInit, record: OwnRecord): Promise<{ record: OwnRecord; fee?: Atoms | undefined }> {
    const { clock, records } = this.#init
    const { subscription } = record
    const now = clock.now()
    if (takesCalls(stateAt(subscription, now)) || init.sentTo !== undefined) return { record }
    if (!isDue(subscription, now)) {
      throw new SoukError('subscription_inactive', `The subscription is ${stateAt(subscription, now)}.`)
    }
    const fee = await this.#renew(init, subscription.id)
    return { record: await records.get(subscription.id), fee }
  }

  /** The fee, unless nothing had to be renewed. */
  async #renew(init: CallInit, id: string): Promise<Atoms | undefined> {
    const { onFee } = init
    const options = { ...signalOf(init), ...(onFee && { onPrice: onFee }) }
    const { charged, requestId } = await this.#init.subscriptions.renew(id, options)
    return requestId === undefined ? undefined : charged
  }

  async #call(init: CallInit, record: OwnRecord, fee: Atoms | undefined): Promise<CallReply> {
    const { subscription } = record
    const maxPrice = least(record.maxPrice, init.maxPrice === undefined ? undefined : parseUsdc(init.maxPrice))
    const ceiling = least(dearestPrice(subscription.plan), maxPrice)
    const quota = this.#init.records.quotaOf(subscription)
    const terms = { record, maxPrice, fee }
    if (ceiling === 0n || !mayBeFree(init, record, quota)) return this.#promise(init, { ...terms, price: ceiling })
    try {
      return await this.#promise(init, { ...terms, price: 0n })
    } catch (error) {
      const { code, notAccepted } = asSoukError(error)
      // Only the owner knows the call's position in the period: this one is beyond the included calls.
      if (code !== 'payment_required' || !notAccepted) throw error
      return this.#promise(init, { ...terms, price: ceiling })
    }
  }

  async #promise(
    init: CallInit,
    { record, maxPrice, price, fee }: { record: OwnRecord; maxPrice: Atoms; price: Atoms; fee: Atoms | undefined }
  ): Promise<CallReply> {
    const { call, spend } = this.#init
    const { subscription, isShared, dailyCap } = record
    const { id, api, owner } = subscription
    const allowed = await spend.allow(id, dailyCap, price)
    let reply: CallReply
    try {
      const terms = {
        subscription: requestIdBytes(id),
        price,
        maxPrice,
        owner,
        isOnly: !isShared,
        paysEvents: dailyCap === undefined
      }
      reply = await call({ ...init, api: parseApiRef(api) }, terms)
    } catch (error) {
      if (!asSoukError(error).isChargeUnknown) allowed.end(0n)
      throw error
    }
    allowed.end(reply.charged)
    // The call is paid, so its response must not fail for an alert. A later call gives it.
    const alert = reply.quota === undefined ? undefined : await this.#heard(record, reply.quota).catch(ignore)
    return { ...reply, ...(fee === undefined ? {} : { fee }), ...(alert === undefined ? {} : { alert }) }
  }

  /** The alert level reached by this call, if it is new. */
  async #heard({ subscription }: OwnRecord, quota: Quota): Promise<85 | 100 | undefined> {
    const { records } = this.#init
    records.heard(subscription.id, quota)
    const { included, used, resetsAt } = quota
    const level = levelOf(used, included)
    if (level === undefined) return undefined
    return (await records.noteAlert(subscription.id, { resetsAt, level })) ? level : undefined
  }
}

function levelOf(used: number, included: number | undefined): 85 | 100 | undefined {
  if (included === undefined || included === 0) return undefined
  if (used >= included) return 100
  return used * 100 >= included * 85 ? 85 : undefined
}

/** Whether to try the call for free first. A stream cannot be sent a second time. */
function mayBeFree({ body }: CallInit, { subscription }: OwnRecord, quota: Quota | undefined): boolean {
  const { included = 0 } = subscription.plan
  const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body
  return !isStream && included > 0 && (quota === undefined || quota.used < included)
}

/** The owner reports that the period has ended. */
function isOver({ code, members }: SoukError, id: string): boolean {
  if (code !== 'subscription_inactive') return false
  const member = members?.['subscription']
  if (typeof member !== 'object' || member === null) return false
  return 'id' in member && member.id === id && 'state' in member && member.state === 'paused'
}

/** @throws SoukError `invalid_request` */
function checkInit({ payment }: CallInit): void {
  if (payment === undefined) return
  throw new SoukError('invalid_request', 'A call with its own payment cannot use a subscription. Send one of the two.')
}

/** A subscription is for one API only. @throws SoukError `invalid_request` */
function checkApi({ api }: CallInit, { subscription }: OwnRecord): void {
  const asked = typeof api === 'string' ? parseApiRef(api) : api
  const own = parseApiRef(subscription.api)
  if (asked.name === own.name && (asked.provider === undefined || asked.provider === own.provider)) return
  throw new SoukError('invalid_request', `The subscription is for ${subscription.api}.`)
}

const signalOf = ({ signal }: CallInit): SubscriptionOptions => (signal === undefined ? {} : { signal })

const least = (a: Atoms, b: Atoms | undefined): Atoms => (b !== undefined && b < a ? b : a)
