import { SoukError } from './errors.ts'
import { OVERLOAD_PAUSE_MS } from './limits/admission.ts'

/** A holder of bytes, and the limit of all its bytes together. */
export interface ByteShare {
  readonly holder: string
  readonly bytesMax: number
}

/** Bytes that one piece of work holds in memory. */
export interface HeldBytes {
  /**
   * Checks that `bytes` more fit. Counts nothing.
   * @throws SoukError `overloaded`
   */
  check(bytes: number): void
  /**
   * Counts `bytes` more. Call it before allocating them.
   * @throws SoukError `overloaded`; nothing is counted then
   */
  take(bytes: number): void
  /**
   * Counts `bytes` more once they fit: a promise, if others have to free theirs before. The work that waits longest may exceed the
   * limits, one at a time. Otherwise several could wait for each other for ever.
   * @throws the reason of `signal`; nothing is counted then
   */
  wait(bytes: number, signal: AbortSignal): Promise<void> | undefined
  /** Frees all counted bytes. A second call does nothing. */
  free(): void
}

interface Waiting {
  readonly holding: Holding
  readonly bytes: number
  /** Its bytes are counted. */
  readonly go: () => void
}

/**
 * Limits the bytes that a process holds for others, in total and per holder. So one holder cannot use the share of the
 * others. Only received bytes count, never announced ones.
 */
export class ByteBudget {
  readonly #bytesMax: number
  readonly #byHolder = new Map<string, number>()
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>()
  /** May exceed the limits. */
  #first: Holding | undefined
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes held for all holders. */
  get bytes(): number {
    return this.#bytes
  }

  /** Starts a holding that counts against each of `shares` and against the total. */
  hold(shares: readonly ByteShare[]): HeldBytes {
    return new Holding(this, shares)
  }

  /** As `HeldBytes.check`. */
  check(shares: readonly ByteShare[], bytes: number): void {
    if (!this.#fits(bytes)) throw full('This node has no memory left for the bodies of calls. Try again later.')
    if (!this.#isShared(shares, bytes)) {
      throw full('Your running calls use all the memory you may use. Wait until some of them end.')
    }
  }

  /** Counts `bytes` more for the holding and all of its shares. */
  add(holding: Holding, bytes: number): void {
    holding.bytes += bytes
    this.#bytes += bytes
    for (const { holder } of holding.shares) {
      const sum = (this.#byHolder.get(holder) ?? 0) + bytes
      if (sum > 0) this.#byHolder.set(holder, sum)
      else this.#byHolder.delete(holder)
    }
  }

  /** As `HeldBytes.wait`. */
  wait(holding: Holding, bytes: number, signal: AbortSignal): Promise<void> | undefined {
    if (this.#grows(holding, bytes)) return undefined
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(waiting)
        reject(signal.reason)
      }
      const go = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const waiting: Waiting = { holding, bytes, go }
      this.#waiting.add(waiting)
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Frees the holding's bytes, and lets others have them. */
  free(holding: Holding): void {
    if (holding.bytes > 0) this.add(holding, -holding.bytes)
    if (this.#first === holding) this.#first = undefined
    for (const waiting of this.#waiting) {
      if (!this.#grows(waiting.holding, waiting.bytes)) continue
      this.#waiting.delete(waiting)
      waiting.go()
    }
  }

  /** Counts `bytes` more if the holding may have them. */
  #grows(holding: Holding, bytes: number): boolean {
    if (!this.#fits(bytes) || !this.#isShared(holding.shares, bytes)) {
      this.#first ??= holding
      if (this.#first !== holding) return false
    }
    this.add(holding, bytes)
    return true
  }

  #fits(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax
  }

  #isShared(shares: readonly ByteShare[], bytes: number): boolean {
    return shares.every(({ holder, bytesMax }) => (this.#byHolder.get(holder) ?? 0) + bytes <= bytesMax)
  }
}

class Holding implements HeldBytes {
  readonly shares: readonly ByteShare[]
  bytes = 0
  readonly #budget: ByteBudget

  constructor(budget: ByteBudget, shares: readonly ByteShare[]) {
    this.#budget = budget
    this.shares = shares
  }

  check(bytes: number): void {
    this.#budget.check(this.shares, bytes)
  }

  take(bytes: number): void {
    this.check(bytes)
    this.#budget.add(this, bytes)
  }

  wait(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    return this.#budget.wait(this, bytes, signal)
  }

  free(): void {
    this.#budget.free(this)
  }
}

function full(detail: string): SoukError {
  return new SoukError('overloaded', detail, { notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
}
