import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import {
  INTERRUPTED_CALL_PER_PEER_REFILL_MS,
  INTERRUPTED_CALL_REFILL_MS,
  INTERRUPTED_CALLS_BURST,
  INTERRUPTED_CALLS_PER_PEER_BURST,
  INTERRUPTED_CALLERS_MAX
} from '../base/limits/admission.ts'
import { TokenBuckets } from '../base/token-bucket.ts'

/**
 * Limits the records of calls that were interrupted by a restart. Each is written though nothing is paid, and a peer can invent
 * such calls.
 */
export class Interruptions {
  readonly #ofPeer: TokenBuckets
  readonly #ofAll: TokenBuckets
  readonly #refusal: () => SoukError | undefined

  /** @param refusal - like `Store.refusal` */
  constructor(clock: Clock, refusal: () => SoukError | undefined = () => undefined) {
    const rate = (burst: number, refillMs: number) => ({ burst, perSecond: 1_000 / refillMs })
    const ofPeer = rate(INTERRUPTED_CALLS_PER_PEER_BURST, INTERRUPTED_CALL_PER_PEER_REFILL_MS)
    this.#ofPeer = new TokenBuckets(ofPeer, INTERRUPTED_CALLERS_MAX, clock)
    this.#ofAll = new TokenBuckets(rate(INTERRUPTED_CALLS_BURST, INTERRUPTED_CALL_REFILL_MS), 1, clock)
    this.#refusal = refusal
  }

  /** Counts one. @throws SoukError `overloaded`, which leaves the outcome of the call open, so its consumer repeats it later */
  count(peer: string): void {
    const cause = this.#refusal()
    if (cause === undefined && this.#ofPeer.take(peer) && this.#ofAll.take('all')) return
    throw new SoukError('overloaded', 'Too many interrupted calls were repeated here. Repeat the call later.', {
      cause,
      notAccepted: true,
      retryAfterMs: INTERRUPTED_CALL_PER_PEER_REFILL_MS
    })
  }
}
