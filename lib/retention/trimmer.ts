import { type Clock, sleep, type Timer } from '../base/clock.ts'
import {
  IDEMPOTENCY_KEYS_MAX,
  IDEMPOTENCY_MS,
  KEEP_FREE_CALLS_MS,
  STORED_RESPONSE_MS,
  TRIM_PASS_MS,
  TRIM_PAUSE_MS,
  TRIM_ROUND_MS,
  TRIM_ROWS
} from '../base/limits/store.ts'
import { DAY_MS } from '../base/limits/time.ts'
import { formatRequestId, idOfTime } from '../base/request-id.ts'
import type { Store, TrimRules } from '../interface/store.ts'
import type { PaymentSchemeRetention } from '../interface/payment-scheme.ts'
import { trustedTime } from './trusted-time.ts'

export interface TrimmerInit {
  readonly clock: Clock
  readonly store: Store
  /** Store that several processes share. Each of them trims it; each row is deleted once. */
  readonly sharedStore?: Store
  /** Retention of charged calls, entries and receipts. Infinity: for ever. */
  readonly keepMs: number
  /** Prefixes of the embedder's entry kinds that may be deleted by age. */
  readonly kinds: readonly string[]
  readonly paymentScheme?: PaymentSchemeRetention
  readonly onError: (error: unknown) => void
}

/** Deletes old data in the background, in short slices with pauses. */
export class Trimmer {
  readonly #init: TrimmerInit
  #stopping = new AbortController()
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  /** End of the last pass over the books, on the monotonic clock. */
  #passedAt = Number.NEGATIVE_INFINITY

  constructor(init: TrimmerInit) {
    this.#init = init
  }

  start(): void {
    this.#stopping = new AbortController()
    this.#schedule()
  }

  /** Resolves after the current slice. The next start continues there. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await this.#running
  }

  /** Runs one round now. @throws SoukError where the store fails */
  async round(): Promise<void> {
    const { clock, store, sharedStore } = this.#init
    const now = await trustedTime(store.documents, clock)
    if (now === undefined) return
    await store.calls.dropResponses(now - STORED_RESPONSE_MS)
    const stores = sharedStore === undefined || sharedStore === store ? [store] : [store, sharedStore]
    for (const { claims, documents } of stores) {
      await claims.drop(now - IDEMPOTENCY_MS, IDEMPOTENCY_KEYS_MAX)
      await this.#inSlices(() => documents.sweep(now, TRIM_ROWS))
    }
    if (clock.elapsed() - this.#passedAt < TRIM_PASS_MS) return
    await this.#trimReceipts(now)
    for (const each of stores) await this.#pass(each, now)
    this.#passedAt = clock.elapsed()
  }

  #schedule(): void {
    const { clock, onError } = this.#init
    this.#timer = clock.after(TRIM_ROUND_MS, () => {
      this.#running = this.round()
        .catch((error: unknown) => {
          if (!this.#stopping.signal.aborted) onError(error)
        })
        .finally(() => {
          if (!this.#stopping.signal.aborted) this.#schedule()
        })
    })
  }

  async #trimReceipts(now: number): Promise<void> {
    const { store, paymentScheme, keepMs } = this.#init
    if (keepMs === Infinity) return
    const before = formatRequestId(idOfTime(now - keepMs))
    for (const collection of paymentScheme?.collections ?? []) {
      await this.#inSlices(() => store.documents.trim(collection, before, TRIM_ROWS))
    }
  }

  async #pass({ retention }: Store, now: number): Promise<void> {
    const { keepMs, kinds, paymentScheme } = this.#init
    if (keepMs === Infinity) return
    const rules: TrimRules = {
      before: now - Math.max(keepMs, KEEP_FREE_CALLS_MS),
      freeBefore: now - KEEP_FREE_CALLS_MS,
      now: now + DAY_MS,
      kinds: [...kinds, ...(paymentScheme?.kinds ?? [])],
      isDue: (account, total) => paymentScheme?.isDue(account, total) ?? true,
      limit: TRIM_ROWS
    }
    while (!(await retention.trim(rules)).isOver) await this.#pause()
  }

  async #inSlices(slice: () => Promise<number>): Promise<void> {
    while ((await slice()) === TRIM_ROWS) await this.#pause()
  }

  #pause(): Promise<void> {
    return sleep(this.#init.clock, TRIM_PAUSE_MS, this.#stopping.signal)
  }
}
