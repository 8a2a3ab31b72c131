import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import {
  INTERRUPTED_CALL_PER_PEER_REFILL_MS,
  INTERRUPTED_CALL_REFILL_MS,
  INTERRUPTED_CALLS_BURST,
  INTERRUPTED_CALLS_PER_PEER_BURST,
  INTERRUPTED_CALLERS_MAX
} from '../base/limits/admission.ts'
import { PeerBuckets } from '../base/peer-buckets.ts'

/**
 * Limits the records of calls that were interrupted by a restart. Each is written though nothing is paid, and a peer can invent
 * such calls.
 */
export class Interruptions {
  readonly #buckets: PeerBuckets
  readonly #refusal: () => SoukError | undefined

  /** @param refusal - like `Store.refusal` */
  constructor(clock: Clock, refusal: () => SoukError | undefined = () => undefined) {
    this.#buckets = new PeerBuckets({
      ofPeer: { burst: INTERRUPTED_CALLS_PER_PEER_BURST, refillMs: INTERRUPTED_CALL_PER_PEER_REFILL_MS },
      ofAll: { burst: INTERRUPTED_CALLS_BURST, refillMs: INTERRUPTED_CALL_REFILL_MS },
      peersMax: INTERRUPTED_CALLERS_MAX,
      clock
    })
    this.#refusal = refusal
  }

  /** Counts one. @throws SoukError `overloaded`, which leaves the outcome of the call open, so its consumer repeats it later */
  count(peer: string): void {
    const cause = this.#refusal()
    if (cause === undefined && this.#buckets.take(peer)) return
    throw new SoukError('overloaded', 'Too many interrupted calls were repeated here. Repeat the call later.', {
      cause,
      notAccepted: true,
      retryAfterMs: INTERRUPTED_CALL_PER_PEER_REFILL_MS
    })
  }
}
