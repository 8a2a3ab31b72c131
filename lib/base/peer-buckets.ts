import type { Clock } from './clock.ts'
import { TokenBuckets } from './token-bucket.ts'

/** `burst` at once, then one more in each `refillMs`. */
export interface Refill {
  readonly burst: number
  readonly refillMs: number
}

export interface PeerBucketsInit {
  readonly ofPeer: Refill
  readonly ofAll: Refill
  /** Peers that are counted, as in `TokenBuckets`. */
  readonly peersMax: number
  readonly clock: Pick<Clock, 'elapsed'>
}

/** A token bucket for each peer, and one for all of them, because peer ids are free to create. */
export class PeerBuckets {
  readonly #ofPeer: TokenBuckets
  readonly #ofAll: TokenBuckets

  constructor({ ofPeer, ofAll, peersMax, clock }: PeerBucketsInit) {
    this.#ofPeer = new TokenBuckets(rateOf(ofPeer), peersMax, clock)
    this.#ofAll = new TokenBuckets(rateOf(ofAll), 1, clock)
  }

  /** Takes one token of both. Returns false where one of them has none left. */
  take(peer: string): boolean {
    return this.#ofPeer.take(peer) && this.#ofAll.take('all')
  }
}

const rateOf = ({ burst, refillMs }: Refill) => ({ burst, perSecond: 1_000 / refillMs })
