import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { SUBSCRIPTION_FRESH_MS, SUBSCRIPTIONS_CACHED_MAX } from '../base/limits/plans.ts'
import type { Atoms } from '../base/money.ts'
import type { Documents, Signals } from '../interface/store.ts'
import type { Period, Plan } from '../interface/plan.ts'
import type { OwnSubscription, Quota, Subscription } from '../interface/subscription.ts'
import { changeDocument } from './change-document.ts'
import { type StoredPlan, storedPlan, readPlan, stateAt } from './sold-subscription.ts'

/** Document collection of a consumer: its subscriptions. A signal of this topic names a changed subscription. */
const OWN = 'subscriptions'

/** A change that was sent, whose result is unknown. */
export interface PendingChange {
  readonly requestId: string
  /** The request in base64, to repeat it unchanged. */
  readonly body: string
  /** The price promised for it. */
  readonly price: Atoms
  /** The plan that it agrees to, with the terms of the listing. */
  readonly plan?: Plan
  /** Written instead of `plan` by earlier versions. */
  readonly period?: Period
}

/** A subscription at the consumer. */
export interface OwnRecord {
  readonly subscription: Subscription
  /** Other replicas of its owner know it. */
  readonly isShared: boolean
  readonly maxPrice: Atoms
  readonly maxFee: Atoms
  readonly dailyCap?: Atoms
  readonly pending?: PendingChange
  /** Before this time, no further period is paid. Present once a fee was paid. */
  readonly paidUntil?: number
  /** The highest alert given, and the end of its period. */
  readonly alerted?: { readonly resetsAt: number; readonly level: 85 | 100 }
}

interface Kept extends Omit<OwnRecord, 'subscription' | 'maxPrice' | 'maxFee' | 'dailyCap' | 'pending'> {
  readonly subscription: Omit<Subscription, 'plan'> & { readonly plan: StoredPlan }
  readonly maxPrice: string
  readonly maxFee: string
  readonly dailyCap?: string
  readonly pending?: Omit<PendingChange, 'price' | 'plan'> & { readonly price: string; readonly plan?: StoredPlan }
}

function write({ subscription, maxPrice, maxFee, dailyCap, pending, ...rest }: OwnRecord): string {
  return JSON.stringify({
    ...rest,
    subscription: { ...subscription, plan: storedPlan(subscription.plan) },
    maxPrice: String(maxPrice),
    maxFee: String(maxFee),
    ...(dailyCap === undefined ? {} : { dailyCap: String(dailyCap) }),
    ...(pending === undefined ? {} : { pending: writePending(pending) })
  } satisfies Kept)
}

function read(document: string): OwnRecord {
  const { subscription, maxPrice, maxFee, dailyCap, pending, ...rest } = JSON.parse(document) as Kept
  return {
    ...rest,
    subscription: { ...subscription, plan: readPlan(subscription.plan) },
    maxPrice: BigInt(maxPrice),
    maxFee: BigInt(maxFee),
    ...(dailyCap === undefined ? {} : { dailyCap: BigInt(dailyCap) }),
    ...(pending === undefined ? {} : { pending: readPending(pending) })
  }
}

function writePending({ price, plan, ...rest }: PendingChange): NonNullable<Kept['pending']> {
  return { ...rest, price: String(price), ...(plan === undefined ? {} : { plan: storedPlan(plan) }) }
}

function readPending({ price, plan, ...rest }: NonNullable<Kept['pending']>): PendingChange {
  return { ...rest, price: BigInt(price), ...(plan === undefined ? {} : { plan: readPlan(plan) }) }
}

/**
 * The subscriptions that a node holds. A change is stored before it takes effect. Other processes on the same store may
 * also change them.
 */
export class OwnRecords {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #cached = new Map<string, { readonly record: OwnRecord; readonly seenAt: number }>()
  /** Quotas that owners last reported, by subscription. */
  readonly #quotas = new Map<string, Quota>()
  readonly #signals: Signals | undefined
  #changes = 0

  /** @param signals - of other processes on the same open store */
  constructor(documents: Documents, clock: Clock, signals?: Signals) {
    this.#documents = documents
    this.#clock = clock
    this.#signals = signals
    signals?.listen(OWN, (changed) => {
      this.#changes++
      if (changed === undefined) this.#cached.clear()
      else this.#cached.delete(changed)
    })
  }

  async find(id: string): Promise<OwnRecord | undefined> {
    const cached = this.#cached.get(id)
    if (cached !== undefined && this.#clock.elapsed() - cached.seenAt < SUBSCRIPTION_FRESH_MS) return cached.record
    const seenAt = this.#clock.elapsed()
    const seen = this.#changes
    const document = await this.#documents.get(OWN, id)
    if (document === undefined) return undefined
    const record = read(document)
    // A record that changed meanwhile is not cached, so that it is read again.
    return seen === this.#changes ? this.#cache(record, seenAt) : record
  }

  /** @throws SoukError `subscription_inactive` */
  async get(id: string): Promise<OwnRecord> {
    const record = await this.find(id)
    if (record === undefined) throw new SoukError('subscription_inactive', 'This node holds no such subscription.')
    return record
  }

  /** Durable when it resolves. */
  async put(record: OwnRecord): Promise<OwnRecord> {
    const { id } = record.subscription
    await this.#documents.put(OWN, id, write(record))
    this.#changes++
    if (this.#signals === undefined) return this.#cache(record)
    // Another process may have changed it, so it is read again next time. If the signal is lost, other processes reread
    // within `SUBSCRIPTION_FRESH_MS`.
    this.#cached.delete(id)
    await this.#signals.send(OWN, id).catch(() => {})
    return record
  }

  async delete(id: string): Promise<void> {
    await this.#documents.delete(OWN, id)
    this.#changes++
    this.#cached.delete(id)
  }

  /**
   * Records that an alert was sent. Does not overwrite concurrent changes of the record.
   * @returns false if the alert was recorded before
   */
  async noteAlert(id: string, alerted: NonNullable<OwnRecord['alerted']>): Promise<boolean> {
    const isKnown = (known: OwnRecord['alerted']) =>
      known?.resetsAt === alerted.resetsAt && known.level >= alerted.level
    if (isKnown((await this.find(id))?.alerted)) return false
    const outcome = await changeDocument(this.#documents, [OWN, id], (before) => {
      const record = before === undefined ? undefined : read(before)
      return record === undefined || isKnown(record.alerted) ? undefined : write({ ...record, alerted })
    })
    if (outcome !== 'written') return false
    this.#changes++
    this.#cached.delete(id)
    await this.#signals?.send(OWN, id).catch(() => {})
    return true
  }

  async list(): Promise<OwnSubscription[]> {
    const all = await this.#documents.list(OWN)
    return all.toReversed().map(({ value }) => this.shown(read(value)))
  }

  /** The subscription as its holder sees it now. */
  shown({ subscription, maxPrice, maxFee, dailyCap, pending }: OwnRecord): OwnSubscription {
    const quota = this.quotaOf(subscription)
    return {
      ...subscription,
      state: stateAt(subscription, this.#clock.now()),
      maxPrice,
      maxFee,
      ...(dailyCap === undefined ? {} : { dailyCap }),
      ...(quota === undefined ? {} : { quota }),
      ...(pending === undefined ? {} : { isUnsettled: true as const })
    }
  }

  /** The quota of the current period, where an owner has reported it to this process. */
  quotaOf({ id, periodEnd }: Subscription): Quota | undefined {
    const quota = this.#quotas.get(id)
    return quota?.resetsAt === periodEnd ? quota : undefined
  }

  /** Stores a reported quota. Calls end in any order, so a lower count of the same period is ignored. */
  heard(id: string, quota: Quota): void {
    const before = this.#quotas.get(id)
    if (before?.resetsAt === quota.resetsAt && before.used > quota.used) return
    if (this.#quotas.size >= SUBSCRIPTIONS_CACHED_MAX) this.#quotas.clear()
    this.#quotas.set(id, quota)
  }

  #cache(record: OwnRecord, seenAt = this.#clock.elapsed()): OwnRecord {
    if (this.#cached.size >= SUBSCRIPTIONS_CACHED_MAX) this.#cached.clear()
    this.#cached.set(record.subscription.id, { record, seenAt })
    return record
  }
}
