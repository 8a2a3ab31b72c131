import { SUBSCRIPTION_FRESH_MS, SUBSCRIPTIONS_CACHED_MAX } from '../base/limits/plans.ts'
import type { Clock } from '../base/clock.ts'
import { ignore } from '../base/ignore.ts'
import { SingleFlight } from '../base/single-flight.ts'
import type { DocumentPut } from '../interface/ledger.ts'
import type { Documents } from '../interface/store.ts'
import { bandsOf } from './bands.ts'
import { QuotaPool } from './quota-pool.ts'
import { GRANTS, type Granted, type Period, QuotaGrants } from './quota-grants.ts'
import { expiryOf, readSold, type SoldSubscription, soldDocument } from './sold-subscription.ts'

/** Document collection of an owner: sold subscriptions. */
export const SOLD = 'subscriptions-sold'
/** Document collection: used calls, by subscription, period and peer. */
const USED = 'plan-use'
/** Document collection shared by replicas: subscriptions sold by each. */
const SHARED = 'subscriptions-shared'

/** A cached subscription. */
export interface Held {
  sold: SoldSubscription
  /** Time of the last read, on the monotonic clock. */
  seenAt: number
  /** The quota of its period. */
  pool: QuotaPool | undefined
}

export interface SoldSubscriptionsInit {
  readonly clock: Clock
  readonly documents: Documents
  /** A store that replicas share for subscriptions and quotas. Absent: nothing is shared. */
  readonly shared?: Documents
  readonly self: string
}

/**
 * An owner's sold subscriptions, cached and stored. The owner changes its own ones only; those of other replicas are
 * copies.
 */
export class SoldSubscriptions {
  readonly #init: SoldSubscriptionsInit
  readonly #grants: QuotaGrants | undefined
  readonly #held = new Map<string, Held>()
  readonly #loading = new SingleFlight<string, Held | undefined>()
  readonly #taking = new Map<QuotaPool, Promise<void>>()

  constructor(init: SoldSubscriptionsInit) {
    this.#init = init
    this.#grants = init.shared === undefined ? undefined : new QuotaGrants(init.shared, init.self)
  }

  get isShared(): boolean {
    return this.#grants !== undefined
  }

  /** Publishes subscriptions that an earlier process sold but did not share. */
  async start(): Promise<void> {
    const { documents, shared, self } = this.#init
    if (shared === undefined) return
    const seen = new Map((await shared.list(SHARED)).map(({ key, value }) => [key, value]))
    for (const { key, value } of await documents.list(SOLD)) {
      const sold = readSold(value)
      if (sold.owner === self && seen.get(key) !== value) await shared.putAll([documentOf(SHARED, sold)])
    }
  }

  /** Returns unused quota to the replicas. Call it when no more calls are admitted. */
  async stop(): Promise<void> {
    await Promise.allSettled([...this.#held.values()].map(({ sold, pool }) => this.#giveBack(sold, pool)))
  }

  /** The cached subscription and quota, where both are fresh. */
  atHand(id: string): Held | undefined {
    const held = this.#held.get(id)
    return held?.pool !== undefined && this.#isFresh(held) ? held : undefined
  }

  /** The cached subscription, fresh or not. */
  known(id: string): SoldSubscription | undefined {
    return this.#held.get(id)?.sold
  }

  /** False once others took its place in the cache. */
  isCached(held: Held): boolean {
    return this.#held.get(held.sold.id) === held
  }

  async find(id: string): Promise<Held | undefined> {
    const held = this.#held.get(id)
    if (held !== undefined && this.#isFresh(held)) return held
    return this.#loading.run(id, () => this.#load(id))
  }

  /** The quota of its period. */
  async bookOf(held: Held): Promise<QuotaPool> {
    if (held.pool !== undefined) return held.pool
    const { sold } = held
    const pool = await this.#openBook(sold)
    // Meanwhile another call may have opened the quota, or a new period may have started.
    if (held.sold.periodNo !== sold.periodNo) return this.bookOf(held)
    held.pool ??= pool
    return held.pool
  }

  /** Takes more calls of a shared quota. Concurrent calls share one attempt. */
  take({ sold }: Held, pool: QuotaPool, band: number): Promise<void> {
    const running = this.#taking.get(pool) ?? this.#take(sold, pool, band).finally(() => this.#taking.delete(pool))
    this.#taking.set(pool, running)
    return running
  }

  /** Reads what other replicas have taken. */
  async lookAt({ sold }: Held, pool: QuotaPool): Promise<void> {
    if (this.#grants === undefined) return
    const { own, others } = await this.#grants.look(periodOf(sold))
    pool.grant(own, others)
  }

  /** The document that is written with each call: used calls by band. */
  used(sold: SoldSubscription, pool: QuotaPool): DocumentPut {
    return { collection: USED, key: this.#usedKey(sold), value: JSON.stringify(pool.used), expiresAt: expiryOf(sold) }
  }

  changed(sold: SoldSubscription): DocumentPut {
    return documentOf(SOLD, sold)
  }

  /**
   * Call it when the change of a subscription is being stored: calls count in its new period from now on, so that none takes a place of
   * the old one that is credited. Returns what takes it back if the store fails.
   */
  replace(sold: SoldSubscription): (() => void) | undefined {
    const held = this.#held.get(sold.id)
    if (held === undefined) return undefined
    const { sold: before, pool } = held
    this.#renew(held, sold)
    return () => void Object.assign(held, { sold: before, pool })
  }

  /**
   * Call it after the subscription is stored: it takes effect and is shared with the replicas. A failed share is
   * repeated at the next start.
   */
  async keep(sold: SoldSubscription, before: SoldSubscription | undefined): Promise<void> {
    const { shared } = this.#init
    const held = this.#held.get(sold.id)
    if (held === undefined) this.#hold(sold)
    else this.#renew(held, sold)
    if (before !== undefined && before.periodEnd <= sold.periodStart) this.#forget(before)
    await shared?.putAll([documentOf(SHARED, sold)]).catch(ignore)
  }

  #isFresh({ sold, seenAt }: Held): boolean {
    return sold.owner === this.#init.self || this.#init.clock.elapsed() - seenAt < SUBSCRIPTION_FRESH_MS
  }

  async #load(id: string): Promise<Held | undefined> {
    const { documents, shared, self } = this.#init
    const own = await documents.get(SOLD, id)
    if (own !== undefined) {
      const sold = readSold(own)
      if (sold.owner === self) return this.#held.get(id) ?? this.#hold(sold)
    }
    const document = await shared?.get(SHARED, id)
    if (document === undefined) return undefined
    const sold = readSold(document)
    // This process did not sell it: the store was copied, or is newer than this owner's own books.
    if (sold.owner === self) return undefined
    const held = this.#held.get(id)
    return held === undefined ? this.#hold(sold) : this.#renew(held, sold)
  }

  /** A new period has a quota of its own. */
  #renew(held: Held, sold: SoldSubscription): Held {
    const isSamePeriod = held.sold.periodNo === sold.periodNo
    return Object.assign(held, {
      sold,
      seenAt: this.#init.clock.elapsed(),
      pool: isSamePeriod ? held.pool : undefined
    })
  }

  #hold(sold: SoldSubscription): Held {
    if (this.#held.size >= SUBSCRIPTIONS_CACHED_MAX) {
      // A quota in use stays cached, because its reservations exist in memory only.
      for (const [id, { pool }] of this.#held) {
        if (pool?.isIdle === false) continue
        this.#held.delete(id)
        break
      }
    }
    const held: Held = { sold, seenAt: this.#init.clock.elapsed(), pool: undefined }
    this.#held.set(sold.id, held)
    return held
  }

  async #openBook(sold: SoldSubscription): Promise<QuotaPool> {
    const bands = bandsOf(sold.plan, sold.isTrial)
    const document = await this.#init.documents.get(USED, this.#usedKey(sold))
    const used = document === undefined ? [] : (JSON.parse(document) as number[])
    const granted: Granted | undefined = await this.#grants?.look(periodOf(sold))
    const { included } = sold.plan
    const pool = new QuotaPool({
      bands,
      used,
      granted: bands.map(({ size }, i) => (granted === undefined || size === Infinity ? size : (granted.own[i] ?? 0))),
      resetsAt: sold.periodEnd,
      ...(included === undefined ? {} : { included })
    })
    if (granted !== undefined) pool.grant(granted.own, granted.others)
    return pool
  }

  async #take(sold: SoldSubscription, pool: QuotaPool, band: number): Promise<void> {
    if (this.#grants === undefined) return
    const { own, others } = await this.#grants.take(periodOf(sold), pool.bands, band)
    pool.grant(own, others)
  }

  async #giveBack(sold: SoldSubscription, pool: QuotaPool | undefined): Promise<void> {
    if (this.#grants === undefined || pool === undefined) return
    await this.#taking.get(pool)
    const kept = pool.letGo()
    if (kept === undefined) return
    const giving = this.#grants.giveBack(periodOf(sold), kept).finally(() => this.#taking.delete(pool))
    // A call that needs quota now waits for this, then takes a new slice.
    this.#taking.set(pool, giving)
    await giving
  }

  /** Deletes the counts of an ended period, which accepts no more calls. */
  #forget(sold: SoldSubscription): void {
    const { documents, shared } = this.#init
    documents.delete(USED, this.#usedKey(sold)).catch(ignore)
    shared?.delete(GRANTS, keyOf(sold)).catch(ignore)
  }

  #usedKey(sold: SoldSubscription): string {
    return `${keyOf(sold)}/${this.#init.self}`
  }
}

/** Key of a period's quota. */
function keyOf({ id, periodNo }: SoldSubscription): string {
  return `${id}/${periodNo}`
}

const periodOf = (sold: SoldSubscription): Period => ({ key: keyOf(sold), expiresAt: expiryOf(sold) })

function documentOf(collection: string, sold: SoldSubscription): DocumentPut {
  return { collection, key: sold.id, value: soldDocument(sold), expiresAt: expiryOf(sold) }
}
