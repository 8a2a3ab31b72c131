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
  /** Frees all counted bytes. A second call does nothing. */
  free(): void
}

/**
 * Limits the bytes that a process holds for others, in total and per holder. So one holder cannot use the share of the
 * others. Only received bytes count, never announced ones.
 */
export class ByteBudget {
  readonly #bytesMax: number
  readonly #byHolder = new Map<string, number>()
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
    if (this.#bytes + bytes > this.#bytesMax)
      throw full('This node has no memory left for request bodies. Try again later.')
    for (const { holder, bytesMax } of shares) {
      if ((this.#byHolder.get(holder) ?? 0) + bytes > bytesMax) {
        throw full('Your running requests use all the memory you may use. Wait until some of them end.')
      }
    }
  }

  /** Counts `bytes` more for all of `shares`, or fewer. */
  add(shares: readonly ByteShare[], bytes: number): void {
    this.#bytes += bytes
    for (const { holder } of shares) {
      const sum = (this.#byHolder.get(holder) ?? 0) + bytes
      if (sum > 0) this.#byHolder.set(holder, sum)
      else this.#byHolder.delete(holder)
    }
  }
}

class Holding implements HeldBytes {
  readonly #budget: ByteBudget
  readonly #shares: readonly ByteShare[]
  #bytes = 0

  constructor(budget: ByteBudget, shares: readonly ByteShare[]) {
    this.#budget = budget
    this.#shares = shares
  }

  check(bytes: number): void {
    this.#budget.check(this.#shares, bytes)
  }

  take(bytes: number): void {
    this.check(bytes)
    this.#bytes += bytes
    this.#budget.add(this.#shares, bytes)
  }

  free(): void {
    if (this.#bytes > 0) this.#budget.add(this.#shares, -this.#bytes)
    this.#bytes = 0
  }
}

function full(detail: string): SoukError {
  return new SoukError('overloaded', detail, { notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
}
