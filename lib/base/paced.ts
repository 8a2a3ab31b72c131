import type { Clock } from './clock.ts'
import { SoukError } from './errors.ts'
import { type Rate, TokenBuckets } from './token-bucket.ts'

export interface PaceInit {
  readonly rate: Rate
  /** Peers that are counted, as in `TokenBuckets`. */
  readonly peersMax: number
  readonly clock: Pick<Clock, 'elapsed'>
}

type Answer = (request: Uint8Array, peer: string) => Promise<Uint8Array>

/** Serves the requests of each peer at this rate at most, and refuses the others with `overloaded`. */
export function paced(answer: Answer, { rate, peersMax, clock }: PaceInit): Answer {
  const asking = new TokenBuckets(rate, peersMax, clock)
  return async (request, peer) => {
    if (!asking.take(peer)) throw new SoukError('overloaded')
    return answer(request, peer)
  }
}
