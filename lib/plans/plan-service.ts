import type { Logger } from '@libp2p/interface'
import { collect } from '../base/collect.ts'
import type { Clock } from '../base/clock.ts'
import { SILENT_LOG } from '../base/component-log.ts'
import { SoukError } from '../base/errors.ts'
import { PAGE_MAX } from '../base/limits/directory.ts'
import {
  FREE_SUBSCRIBERS_MAX,
  FREE_SUBSCRIPTION_PER_PEER_REFILL_MS,
  FREE_SUBSCRIPTION_REFILL_MS,
  FREE_SUBSCRIPTIONS_BURST,
  FREE_SUBSCRIPTIONS_PER_PEER_BURST,
  SUBSCRIPTION_BODY_BYTES_MAX,
  SUBSCRIPTION_FRESH_MS,
  TRIAL_KEPT_MS
} from '../base/limits/plans.ts'
import { KeyedMutex } from '../base/mutex.ts'
import { PeerBuckets } from '../base/peer-buckets.ts'
import { formatRequestId } from '../base/request-id.ts'
import { checkPrice } from '../base/check-price.ts'
import type { IncomingCall } from '../interface/call.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import type { PlanService as PlanServiceContract, QuotaReservation } from '../interface/plan-service.ts'
import type { Plan } from '../interface/plan.ts'
import type { Documents } from '../interface/store.ts'
import type { Quota, SubscriberPage, SubscriberQuery, Subscription } from '../interface/subscription.ts'
import { checkMajor, decide, inactive, isHolder, unknownSubscription } from './decide.ts'
import { readRequest, type SubscriptionRequest, writeReply } from './messages.ts'
import type { Place, QuotaPool } from './quota-pool.ts'
import { type Held, SOLD, SoldSubscriptions } from './sold-subscriptions.ts'
import { readSold, type SoldSubscription, stateAt, takesCalls } from './sold-subscription.ts'

/** Document collection, shared between replicas where possible: the subscription that used a consumer's trial. */
const TRIALS = 'plan-trials'
/** Document collection like `TRIALS`: the subscription that holds a consumer's free calls of a listing. */
const FREE = 'plan-free'

interface FreeClaim {
  readonly id: string
  readonly at: number
}

export interface PlanServiceInit {
  readonly clock: Clock
  /** The store of the calls. Quota changes are written with the call's record. */
  readonly documents: Documents
  /** A store that the owner's replicas share. Absent: only this node serves what it sold. */
  readonly shared?: Documents
  /** Peer id of this node. */
  readonly self: string
  /** Called after each change is stored. Never throws. */
  readonly onSold?: (sold: Subscription, before: Subscription | undefined) => void | Promise<void>
  /** Default: none. */
  readonly log?: Logger
}

/** The plan service: sells subscriptions, admits their calls, and counts them. */
export class PlanService implements PlanServiceContract {
  readonly #init: PlanServiceInit
  readonly #log: Logger
  readonly #pool: SoldSubscriptions
  /** One change at a time per subscription. */
  readonly #changes = new KeyedMutex()
  /** New subscriptions that cost nothing. */
  readonly #free: PeerBuckets

  constructor(init: PlanServiceInit) {
    this.#init = init
    this.#free = new PeerBuckets({
      ofPeer: { burst: FREE_SUBSCRIPTIONS_PER_PEER_BURST, refillMs: FREE_SUBSCRIPTION_PER_PEER_REFILL_MS },
      ofAll: { burst: FREE_SUBSCRIPTIONS_BURST, refillMs: FREE_SUBSCRIPTION_REFILL_MS },
      peersMax: FREE_SUBSCRIBERS_MAX,
      clock: init.clock
    })
    this.#log = init.log ?? SILENT_LOG
    this.#pool = new SoldSubscriptions(init)
  }

  /** Call it with the store open. */
  start(): Promise<void> {
    return this.#pool.start()
  }

  /** Returns unused shared quota to the replicas. Call it when no call is running. */
  stop(): Promise<void> {
    return this.#pool.stop()
  }

  admit(signed: SignedManifest, call: IncomingCall): QuotaReservation | Promise<QuotaReservation> {
    if (call.service !== undefined) return this.#change(signed, call)
    const { subscription } = call
    if (subscription === undefined) throw new SoukError('internal_error', 'The call has no subscription.')
    const id = formatRequestId(subscription)
    const held = this.#pool.atHand(id)
    if (held?.pool !== undefined) {
      this.#check(held.sold, signed, call)
      const place = held.pool.reserve()
      if (typeof place === 'object') return this.#reservationOf(held, held.pool, place, call)
    }
    return this.#find(id, signed, call)
  }

  planOf({ id: api }: SignedManifest, { service, subscription, peer }: IncomingCall): Plan | undefined {
    if (service !== undefined || subscription === undefined) return undefined
    const sold = this.#pool.known(formatRequestId(subscription))
    if (sold?.api !== api) return undefined
    return sold.peer === peer || sold.peers.includes(peer) ? sold.plan : undefined
  }

  /** Newest first. */
  async sold({ api, limit, cursor }: SubscriberQuery): Promise<SubscriberPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
      throw new SoukError('invalid_request', `The limit of a page must be 1 to ${PAGE_MAX}.`)
    }
    const now = this.#init.clock.now()
    const subscriptions: Subscription[] = []
    let before = cursor
    for (;;) {
      const from = before === undefined ? {} : { before }
      const page = await this.#init.documents.last(SOLD, { limit: PAGE_MAX, ...from })
      for (const { key, value } of page) {
        if (subscriptions.length === limit && before !== undefined) return { subscriptions, next: before }
        before = key
        const sold = readSold(value)
        const isWanted = sold.owner === this.#init.self && (api === undefined || sold.api === api)
        if (isWanted) subscriptions.push({ ...told(sold), state: stateAt(sold, now) })
      }
      if (page.length < PAGE_MAX) return { subscriptions }
    }
  }

  async #find(id: string, signed: SignedManifest, call: IncomingCall): Promise<QuotaReservation> {
    const held = await this.#pool.find(id)
    if (held === undefined) throw unknownSubscription()
    for (;;) {
      const pool = await this.#pool.bookOf(held)
      // A call that comes later would count in a quota of its own.
      if (!this.#pool.isCached(held)) return this.#find(id, signed, call)
      this.#check(held.sold, signed, call)
      const place = pool.reserve()
      if (typeof place === 'object') return this.#reservationOf(held, pool, place, call)
      if (place === undefined) throw this.#exceeded(id, pool)
      await this.#pool.take(held, pool, place)
    }
  }

  /** @throws SoukError `subscription_inactive` */
  #check(sold: SoldSubscription, { id, manifest }: SignedManifest, call: IncomingCall): void {
    if (sold.api !== id || !isHolder(sold, call)) throw unknownSubscription()
    const now = this.#init.clock.now()
    if (!takesCalls(stateAt(sold, now))) throw inactive(sold, now)
    checkMajor(sold, manifest)
  }

  #reservationOf(held: Held, pool: QuotaPool, place: Place, { maxPrice }: IncomingCall): QuotaReservation {
    try {
      checkPrice(place.price, maxPrice)
    } catch (error) {
      place.end(false)
      throw notAccepted(error)
    }
    // The period may change during the call. The call counts in the period of its admission.
    const { sold } = held
    let quota: Quota | undefined
    return {
      price: place.price,
      capture: () => {
        place.use()
        quota = pool.quota()
        return [this.#pool.used(sold, pool)]
      },
      end: (isCaptured) => place.end(isCaptured),
      quota: () => quota ?? pool.quota()
    }
  }

  #exceeded(id: string, pool: QuotaPool): SoukError {
    const quota = pool.quota()
    this.#log('subscription %s: %d of %s calls of this period are used', id, quota.used, quota.limit)
    return new SoukError('quota_exceeded', 'The quota of this period is used up.', {
      retryAfterMs: Math.max(0, quota.resetsAt - this.#init.clock.now()),
      members: { quota: quotaMember(quota) },
      notAccepted: true
    })
  }

  async #change(signed: SignedManifest, call: IncomingCall): Promise<QuotaReservation> {
    const tooLarge = () => new SoukError('request_too_large')
    const request = readRequest(await collect(call.body, SUBSCRIPTION_BODY_BYTES_MAX, tooLarge))
    const leave = await this.#changes.enter(request.id)
    try {
      return await this.#decide(request, signed, call, leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  async #decide(
    request: SubscriptionRequest,
    { id: api, manifest }: SignedManifest,
    { peer, consumer, maxPrice }: IncomingCall,
    leave: () => void
  ): Promise<QuotaReservation> {
    const { clock, self, onSold } = this.#init
    const held = await this.#pool.find(request.id)
    // Only the seller changes a subscription. Every replica can show it.
    const isOwn = held === undefined || held.sold.owner === self
    if (!isOwn && request.action !== 'show') throw soldElsewhere(held.sold.owner)
    // Only a change of plan gives credit for the calls that are left.
    const pool = held === undefined || request.action !== 'change' ? undefined : await this.#lookedAt(held)
    const before = held?.sold
    const now = clock.now()
    const asking = { peer, ...(consumer === undefined ? {} : { consumer }) }
    const decided = (freeTaken = pool?.freeTaken ?? 0) =>
      decide(request, before, { api, manifest, now, ...asking, owner: self, freeTaken })
    const { sold, due } = decided()
    // Calls go on while the change is paid for, and each that takes an included call lowers the credit.
    const { due: price } = decided(Number.MAX_SAFE_INTEGER)
    checkPrice(price, maxPrice)
    if (held === undefined && due === 0n) this.#countFree(peer)
    if (sold.periodNo !== before?.periodNo) {
      if (sold.isTrial) await this.#claimTrial(sold)
      else if (sold.plan.fee === 0n && sold.plan.included !== 0) await this.#claimFree(sold)
    }
    const isChanged = sold !== before
    let undo: (() => void) | undefined
    return {
      price,
      due: () => decided().due,
      answer: () => ({
        status: 200,
        headers: [['content-type', 'application/json']],
        body: writeReply({ ...told(sold), isShared: this.#pool.isShared }),
        success: true,
        upstreamMs: 0
      }),
      capture: () => {
        if (!isChanged) return []
        undo = this.#pool.replace(sold)
        return [this.#pool.changed(sold)]
      },
      end: async (isCaptured) => {
        try {
          if (!isCaptured) undo?.()
          if (isCaptured && isChanged) {
            await this.#pool.keep(sold, before)
            this.#log('subscription %s of %s to %s: %s, plan %s', sold.id, sold.peer, api, sold.state, sold.plan.id)
            await onSold?.(told(sold), before && { ...told(before), state: stateAt(before, now) })
          }
        } finally {
          leave()
        }
      },
      quota: () => held?.pool?.quota()
    }
  }

  /** @throws SoukError `overloaded` */
  #countFree(peer: string): void {
    if (this.#free.take(peer)) return
    const text = 'Too many subscriptions without a fee were made here. Try again later, or choose a plan with a fee.'
    const retryAfterMs = FREE_SUBSCRIPTION_PER_PEER_REFILL_MS
    throw new SoukError('overloaded', text, { retryAfterMs, notAccepted: true })
  }

  async #lookedAt(held: Held): Promise<QuotaPool> {
    const pool = await this.#pool.bookOf(held)
    await this.#pool.lookAt(held, pool)
    return pool
  }

  /**
   * Each consumer can use the free calls of a listing with one subscription at a time. Otherwise it could multiply
   * them. @throws SoukError `payment_required`
   */
  async #claimFree(sold: SoldSubscription): Promise<void> {
    const { api, peer, account = '', id, periodEnd } = sold
    const { clock, documents, shared = documents } = this.#init
    const key = `${api}/${peer}/${account}`
    const claim = JSON.stringify({ id, at: clock.now() } satisfies FreeClaim)
    if (await shared.insert(FREE, key, claim, periodEnd)) return
    const before = await shared.get(FREE, key)
    // It ended in between.
    if (before === undefined) return this.#claimFree(sold)
    const taken = JSON.parse(before) as FreeClaim
    // A renewed period extends the claim.
    if (taken.id === id) return void (await shared.replace(FREE, key, before, claim, periodEnd))
    const other = (await this.#pool.find(taken.id))?.sold
    // A subscription that is being sold is not stored yet. An abandoned one frees the claim after a while.
    const freeFrom = other?.periodEnd ?? taken.at + SUBSCRIPTION_FRESH_MS
    const isOver = clock.now() >= freeFrom || (other !== undefined && other.plan.fee > 0n)
    if (isOver && (await shared.replace(FREE, key, before, claim, periodEnd))) return
    const text =
      'Another subscription of this consumer has the free calls of this API until its period ends. Use that one, or a plan with a fee.'
    throw new SoukError('payment_required', text, { notAccepted: true })
  }

  /**
   * One trial per consumer and listing. The same subscription may repeat the request. @throws SoukError
   * `payment_required`
   */
  async #claimTrial({ api, peer, account = '', id }: SoldSubscription): Promise<void> {
    const { clock, documents, shared = documents } = this.#init
    const key = `${api}/${peer}/${account}`
    if (await shared.insert(TRIALS, key, JSON.stringify(id), clock.now() + TRIAL_KEPT_MS)) return
    if ((await shared.get(TRIALS, key)) === JSON.stringify(id)) return
    throw new SoukError('payment_required', 'You have already used the trial of this API. Subscribe without a trial.', {
      notAccepted: true,
      members: { reason: 'trial_used' }
    })
  }
}

/** The public fields of a subscription. */
function told(sold: SoldSubscription): Subscription {
  const { anchor: _, isTrial: __, periodNo: ___, ...subscription } = sold
  return subscription
}

function soldElsewhere(owner: string): SoukError {
  return new SoukError('subscription_inactive', 'Another node sold this subscription. Only that node can change it.', {
    members: { owner },
    notAccepted: true
  })
}

function notAccepted(error: unknown): unknown {
  return error instanceof SoukError ? new SoukError(error.code, error.message, { notAccepted: true }) : error
}

const quotaMember = ({ included, used, limit, resetsAt }: Quota) => ({
  ...(included === undefined ? {} : { included }),
  used,
  ...(limit === undefined ? {} : { limit }),
  resets_at: resetsAt
})
