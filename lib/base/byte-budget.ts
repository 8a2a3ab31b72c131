import { SoukError } from './errors.ts'
import { OVERLOAD_PAUSE_MS } from './limits.ts'

/** One of those that bytes are held for, and the most that all its holdings may have together. */
export interface ByteShare {
  readonly holder: string
  readonly bytesMax: number
}

/** Bytes that one piece of work holds in memory. */
export interface HeldBytes {
  /**
   * Whether so many more could be held now; nothing is counted.
   * @throws SoukError `overloaded`
   */
  check(bytes: number): void
  /**
   * Counts so many more. Call it before they are allocated.
   * @throws SoukError `overloaded`; nothing is counted then
   */
  take(bytes: number): void
  /** Gives all of them back. A second call does nothing. */
  free(): void
}

/**
 * Bounds the bytes that a process holds for others, and the part of them that each holder has: one holder can use up its share, and
 * leaves the rest to the others. It counts bytes that have arrived, never those that are announced.
 */
export class ByteBudget {
  readonly #bytesMax: number
  readonly #byHolder = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Held by all. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begins a holding that counts against each of `shares` and against the whole. */
  hold(shares: readonly ByteShare[]): HeldBytes {
    let held = 0
    const add = (bytes: number) => {
      held += bytes
      this.#bytes += bytes
      for (const { holder } of shares) this.#add(holder, bytes)
    }
    const check = (bytes: number) => {
      if (this.#bytes + bytes > this.#bytesMax) throw full('This node holds as many bytes of requests as it can.')
      for (const { holder, bytesMax } of shares) {
        if ((this.#byHolder.get(holder) ?? 0) + bytes > bytesMax) {
          throw full('Your requests that are under way hold as many bytes as they may: wait for some of them.')
        }
      }
    }
    return {
      check,
      take(bytes) {
        check(bytes)
        add(bytes)
      },
      free() {
        if (held > 0) add(-held)
      }
    }
  }

  #add(holder: string, bytes: number): void {
    const sum = (this.#byHolder.get(holder) ?? 0) + bytes
    if (sum > 0) this.#byHolder.set(holder, sum)
    else this.#byHolder.delete(holder)
  }
}

function full(detail: string): SoukError {
  return new SoukError('overloaded', detail, { notAccepted: true, retryAfterMs: OVERLOAD_PAUSE_MS })
}
