import { boundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import { CLOCK_SKEW_MS, PEER_CLOCKS_MAX } from './limits/directory.ts'

interface Compared {
  /** How far this node's clock was ahead of the peer's. */
  readonly aheadMs: number
  /** Wall time less monotonic time. It changes when the clock of this machine is set, or while the machine sleeps. */
  readonly zero: number
}

/**
 * Compares this machine's clock with those of peers. Nothing is signed or refused by the result, because peers may lie: it
 * only tells the operator why others refuse what this node signs.
 */
export class PeerClocks {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  readonly #onHeard: () => void
  readonly #compared = boundedMap<string, Compared>(PEER_CLOCKS_MAX)

  /** @param onHeard - called after each comparison */
  constructor(clock: Pick<Clock, 'now' | 'elapsed'>, onHeard: () => void) {
    this.#clock = clock
    this.#onHeard = onHeard
  }

  /**
   * @param at - the peer's time, milliseconds since the epoch
   * @param askedAt - monotonic time at which it was asked: it read its clock between then and now
   */
  heard(peer: string, at: number, askedAt: number): void {
    const roundTripMs = this.#clock.elapsed() - askedAt
    const latest = this.#clock.now() - at
    const aheadMs = latest < 0 ? latest : Math.max(0, latest - roundTripMs)
    this.#compared.set(peer, { aheadMs, zero: this.#zero() })
    this.#onHeard()
  }

  /**
   * How far this machine's clock is ahead of those of its peers, in milliseconds; negative if it is behind, 0 within
   * `CLOCK_SKEW_MS`. Undefined if no peer was asked since the clock was last set.
   */
  get aheadMs(): number | undefined {
    const zero = this.#zero()
    const valid = [...this.#compared.values()].filter((each) => Math.abs(each.zero - zero) <= CLOCK_SKEW_MS)
    const sorted = valid.map(({ aheadMs }) => aheadMs).toSorted((a, b) => a - b)
    // Where the two in the middle differ, no majority says that this clock is wrong.
    const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
    if (low === undefined || high === undefined) return undefined
    const middle = Math.abs(low) < Math.abs(high) ? low : high
    return Math.abs(middle) > CLOCK_SKEW_MS ? middle : 0
  }

  #zero(): number {
    return this.#clock.now() - this.#clock.elapsed()
  }
}
