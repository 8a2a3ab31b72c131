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
    let held = 0
    const add = (bytes: number) => {
      held += bytes
      this.#bytes += bytes
      for (const { holder } of shares) this.#add(holder, bytes)
    }
    const check = (bytes: number) => {
      if (this.#bytes + bytes > this.#bytesMax)
        throw full('This node has no memory left for request bodies. Try again later.')
      for (const { holder, bytesMax } of shares) {
        if ((this.#byHolder.get(holder) ?? 0) + bytes > bytesMax) {
          throw full('Your running requests use all the memory you may use. Wait until some of them end.')
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
