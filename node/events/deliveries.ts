import { limits } from '../../lib/index.ts'
import type { Clock, Documents, Random, Timer } from '../../lib/interface/index.ts'
import type { SoukEvent } from './event-types.ts'

/** What became of one attempt. */
export type Outcome =
  | { readonly fate: 'taken'; readonly status: number }
  /** The webhook wants nothing more (410). */
  | { readonly fate: 'gone' }
  | { readonly fate: 'failed'; readonly why: string; readonly retryAfterMs?: number }

/** An event on its way to one webhook. Times in milliseconds since the epoch. */
export interface Delivery {
  readonly webhook: string
  readonly event: SoukEvent
  /** Attempts that failed. */
  readonly failures: number
  readonly firstAt: number
  readonly nextAt: number
}

export interface DeliveriesInit {
  readonly documents: Documents
  readonly clock: Clock
  readonly random: Random
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<Outcome>
  /** Told of each attempt; `isLast` where there will be no other. Rejects never. */
  readonly onOutcome: (delivery: Delivery, outcome: Outcome, isLast: boolean) => Promise<void>
  readonly onError: (cause: unknown) => void
}

const COLLECTION = 'webhook-deliveries'
/** A delay is lengthened by a tenth at most, so that what failed together does not come again together. */
const JITTER_PART = 10

/**
 * Events on their way to webhooks, over restarts: each is written down before anybody counts on it, and until it is taken or given up. It may
 * arrive twice, where a process ends between the two; its id is the same then.
 */
export class Deliveries {
  readonly #init: DeliveriesInit
  readonly #waiting = new Map<string, Delivery>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: Timer | undefined

  constructor(init: DeliveriesInit) {
    this.#init = init
  }

  async start(): Promise<void> {
    for (const { key, value } of await this.#init.documents.list(COLLECTION)) {
      this.#waiting.set(key, JSON.parse(value) as Delivery)
    }
    this.#plan()
  }

  /** What is under way is ended, and begins anew with the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await Promise.allSettled(this.#running.values())
  }

  /** Durable when it resolves. Where too many wait, the oldest of them is given up. */
  async add(webhook: string, event: SoukEvent): Promise<void> {
    const own = this.#of(webhook)
    if (own.length >= limits.WEBHOOK_QUEUE_MAX) {
      const [oldest] = own.filter(([key]) => !this.#running.has(key))
      if (oldest !== undefined) await this.#forget(oldest[0])
    }
    const at = this.#init.clock.now()
    await this.#put({ webhook, event, failures: 0, firstAt: at, nextAt: at })
    this.#plan()
  }

  pending(webhook: string): number {
    return this.#of(webhook).length
  }

  /** Gives up all that waits for a webhook. */
  async drop(webhook: string): Promise<void> {
    await Promise.all(this.#of(webhook).map(([key]) => this.#forget(key)))
  }

  #of(webhook: string): Array<[key: string, delivery: Delivery]> {
    return [...this.#waiting].filter(([, delivery]) => delivery.webhook === webhook)
  }

  async #put(delivery: Delivery): Promise<void> {
    const key = `${delivery.webhook}/${delivery.event.id}`
    await this.#init.documents.put(COLLECTION, key, JSON.stringify(delivery))
    this.#waiting.set(key, delivery)
  }

  async #forget(key: string): Promise<void> {
    this.#waiting.delete(key)
    await this.#init.documents.delete(COLLECTION, key)
  }

  #plan(): void {
    this.#timer?.cancel()
    if (this.#stopping.signal.aborted) return
    const now = this.#init.clock.now()
    const running = new Map<string, number>()
    for (const key of this.#running.keys()) count(running, webhookIn(key))
    let soonest = Infinity
    for (const [key, delivery] of this.#waiting) {
      if (this.#running.has(key)) continue
      if (delivery.nextAt > now) soonest = Math.min(soonest, delivery.nextAt)
      else if ((running.get(delivery.webhook) ?? 0) < limits.WEBHOOK_AT_ONCE) {
        count(running, delivery.webhook)
        this.#run(key, delivery)
      }
    }
    // A timer of ours is good for 24 days; a clock that is set on is noticed within a minute.
    const delayMs = Math.min(soonest - now, limits.WEBHOOK_LOOK_MS)
    if (soonest !== Infinity) this.#timer = this.#init.clock.after(delayMs, () => this.#plan())
  }

  #run(key: string, delivery: Delivery): void {
    const running = this.#attempt(key, delivery)
      .catch(this.#init.onError)
      .finally(() => {
        this.#running.delete(key)
        this.#plan()
      })
    this.#running.set(key, running)
  }

  async #attempt(key: string, delivery: Delivery): Promise<void> {
    const { send, onOutcome, clock } = this.#init
    const { signal } = this.#stopping
    const outcome = await send(delivery, signal)
    if (signal.aborted && outcome.fate === 'failed') return
    // Given up in the meantime.
    if (!this.#waiting.has(key)) return
    const pauseMs = limits.WEBHOOK_RETRY_MS[delivery.failures]
    if (outcome.fate === 'failed' && pauseMs !== undefined) {
      const asked = Math.min(outcome.retryAfterMs ?? 0, limits.DAY_MS)
      const nextAt = clock.now() + Math.max(asked, this.#jittered(pauseMs))
      const later: Delivery = { ...delivery, failures: delivery.failures + 1, nextAt }
      // Before it is written down: where it is given up meanwhile, it stays so.
      this.#waiting.set(key, later)
      await this.#init.documents.put(COLLECTION, key, JSON.stringify(later))
      return onOutcome(delivery, outcome, false)
    }
    await this.#forget(key)
    await onOutcome(delivery, outcome, true)
  }

  #jittered(delayMs: number): number {
    const [byte = 0] = this.#init.random.fill(new Uint8Array(1))
    return delayMs + (delayMs / JITTER_PART) * (byte / 255)
  }
}

function webhookIn(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
