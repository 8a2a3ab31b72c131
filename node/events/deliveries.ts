import { asSoukError, limits } from '../../lib/index.ts'
import type { Clock, Documents, Random, Timer } from '../../lib/interface/index.ts'
import type { SoukEvent } from './event-types.ts'

/** The result of one attempt. */
export type Outcome =
  | { readonly fate: 'taken'; readonly status: number }
  /** The webhook asked for no further events (410). */
  | { readonly fate: 'gone' }
  | { readonly fate: 'failed'; readonly why: string; readonly retryAfterMs?: number }

/** A pending delivery of an event to one webhook. Times in milliseconds since the epoch. */
export interface Delivery {
  readonly webhook: string
  readonly event: SoukEvent
  /** Number of failed attempts. */
  readonly failures: number
  readonly firstAt: number
  readonly nextAt: number
  /** The pause before `nextAt`. Absent in deliveries of earlier versions. */
  readonly pauseMs?: number
}

/** A delivery, and the latest time of its attempt on the monotonic clock: the wall clock may be set back. */
interface Waiting {
  readonly delivery: Delivery
  readonly latestAt: number
}

export interface DeliveriesInit {
  readonly documents: Documents
  readonly clock: Clock
  readonly random: Random
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<Outcome>
  /** Called after each attempt. `isLast` means that no attempt will follow. Must not reject. */
  readonly onOutcome: (delivery: Delivery, outcome: Outcome, isLast: boolean) => Promise<void>
  readonly onError: (cause: unknown) => void
}

const COLLECTION = 'webhook-deliveries'
/** Adds at most a tenth to a delay, so that deliveries that failed together do not retry together. */
const JITTER_PART = 10
/** Longest pause, for deliveries that an earlier version stored. */
const PAUSE_MS_MAX = limits.DAY_MS + limits.DAY_MS / JITTER_PART

/**
 * The retry queue of webhooks, kept across restarts. An event is stored before `add` resolves, and until it is delivered or given up. It
 * may arrive twice if the process dies after sending; its id stays the same.
 */
export class Deliveries {
  readonly #init: DeliveriesInit
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #timer: Timer | undefined

  constructor(init: DeliveriesInit) {
    this.#init = init
  }

  async start(): Promise<void> {
    for (const { key, value } of await this.#init.documents.list(COLLECTION)) {
      this.#wait(key, JSON.parse(value) as Delivery)
    }
    this.#plan()
  }

  /** Aborts running attempts. They start again at the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await Promise.allSettled(this.#running.values())
  }

  /** Durable when it resolves. If too many deliveries wait, this gives up the oldest one. */
  async add(webhook: string, event: SoukEvent): Promise<void> {
    const own = this.#of(webhook)
    if (own.length >= limits.WEBHOOK_QUEUE_MAX) {
      const oldest = own.find((key) => !this.#running.has(key))
      if (oldest !== undefined) await this.#forget(oldest)
    }
    const at = this.#init.clock.now()
    await this.#put({ webhook, event, failures: 0, firstAt: at, nextAt: at, pauseMs: 0 })
    this.#plan()
  }

  pending(webhook: string): number {
    return this.#of(webhook).length
  }

  /** Gives up all pending deliveries of a webhook. */
  async drop(webhook: string): Promise<void> {
    await Promise.all(this.#of(webhook).map((key) => this.#forget(key)))
  }

  #of(webhook: string): string[] {
    return [...this.#waiting.keys()].filter((key) => webhookIn(key) === webhook)
  }

  async #put(delivery: Delivery): Promise<void> {
    const key = `${delivery.webhook}/${delivery.event.id}`
    await this.#init.documents.put(COLLECTION, key, JSON.stringify(delivery))
    this.#wait(key, delivery)
  }

  #wait(key: string, delivery: Delivery): void {
    const { clock } = this.#init
    const { nextAt, pauseMs = PAUSE_MS_MAX } = delivery
    const leftMs = Math.min(nextAt - clock.now(), pauseMs)
    this.#waiting.set(key, { delivery, latestAt: clock.elapsed() + leftMs })
  }

  async #forget(key: string): Promise<void> {
    this.#waiting.delete(key)
    await this.#init.documents.delete(COLLECTION, key)
  }

  #plan(): void {
    this.#timer?.cancel()
    if (this.#stopping.signal.aborted) return
    const { clock } = this.#init
    const [now, elapsed] = [clock.now(), clock.elapsed()]
    const running = new Map<string, number>()
    for (const key of this.#running.keys()) count(running, webhookIn(key))
    let soonestMs = Infinity
    for (const [key, { delivery, latestAt }] of this.#waiting) {
      if (this.#running.has(key)) continue
      const leftMs = Math.min(delivery.nextAt - now, latestAt - elapsed)
      if (leftMs > 0) soonestMs = Math.min(soonestMs, leftMs)
      else if ((running.get(delivery.webhook) ?? 0) < limits.WEBHOOK_AT_ONCE) {
        count(running, delivery.webhook)
        this.#run(key, delivery)
      }
    }
    // Waking up every minute notices that the clock was set forward, or the machine slept.
    const delayMs = Math.min(soonestMs, limits.WEBHOOK_LOOK_MS)
    if (soonestMs !== Infinity) this.#timer = clock.after(delayMs, () => this.#plan())
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
    const { onOutcome, clock } = this.#init
    const { signal } = this.#stopping
    const outcome = await this.#send(delivery, signal)
    if (signal.aborted && outcome.fate === 'failed') return
    // The delivery was given up meanwhile.
    if (!this.#waiting.has(key)) return
    const retryMs = limits.WEBHOOK_RETRY_MS[delivery.failures]
    if (outcome.fate === 'failed' && retryMs !== undefined) {
      const asked = Math.min(outcome.retryAfterMs ?? 0, limits.DAY_MS)
      const pauseMs = Math.max(asked, this.#jittered(retryMs))
      const now = clock.now()
      const firstAt = Math.min(delivery.firstAt, now)
      const later: Delivery = { ...delivery, failures: delivery.failures + 1, firstAt, nextAt: now + pauseMs, pauseMs }
      // Update memory before storing, so that a delivery given up meanwhile stays given up.
      this.#wait(key, later)
      await this.#init.documents.put(COLLECTION, key, JSON.stringify(later))
      return onOutcome(delivery, outcome, false)
    }
    await this.#forget(key)
    await onOutcome(delivery, outcome, true)
  }

  /** An attempt that throws has failed: it is not repeated at once either. */
  async #send(delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#init.send(delivery, signal)
    } catch (cause) {
      this.#init.onError(cause)
      return { fate: 'failed', why: asSoukError(cause).message }
    }
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
