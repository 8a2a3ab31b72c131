import { boundedMap } from '../base/bounded-map.ts'
import type { Clock } from '../base/clock.ts'
import { PEERS_VALUED_MAX } from '../base/limits/link.ts'
import type { CallResponse, CallWatcher, IncomingCall } from '../interface/call.ts'

/** Value of a connection to a peer, lowest first. */
export const WORTH = {
  nothing: 0,
  /** The peer has a tag in the peer store, such as the peers in the DHT's routing table. */
  tagged: 1,
  bootstrap: 2,
  /** Since this node started, a call in either direction was paid or got a response. */
  traded: 3,
  /** The peer has an open payment channel with this node, or calls under a subscription. */
  bound: 4
} as const
export type Worth = (typeof WORTH)[keyof typeof WORTH]

export interface PeerScore {
  readonly worth: Worth
  /** Calls of the peer are running on this node. */
  readonly isBusy: boolean
  /** Time of its last call on the clock's `elapsed`; undefined without one. */
  readonly usedAt: number | undefined
}

interface Known {
  worth: Worth
  running: number
  usedAt: number
}

/** Remembers which peers are valuable, to decide about connections. */
export class PeerWorth implements CallWatcher {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #known = boundedMap<string, Known>(PEERS_VALUED_MAX)
  readonly #bootstrap = new Set<string>()
  #bound: () => Iterable<string> = () => []

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /**
   * @param bootstrap - multiaddrs with `/p2p/<peer id>`
   * @param bound - peers with open payment channels. Called rarely: when a connection must be closed or replaced
   */
  learn(bootstrap: readonly string[], bound: () => Iterable<string>): void {
    this.#bound = bound
    this.addBootstrap(bootstrap)
  }

  addBootstrap(bootstrap: readonly string[]): void {
    for (const address of bootstrap) {
      const peer = /\/p2p\/([^/]+)$/.exec(address)?.[1]
      if (peer !== undefined) this.#bootstrap.add(peer)
    }
  }

  onCall({ peer }: IncomingCall): void {
    this.#use(peer).running++
  }

  onAnswer({ peer, subscription }: IncomingCall, { charged }: CallResponse): void {
    const known = this.#end(peer)
    if (subscription !== undefined) known.worth = WORTH.bound
    else if (charged > 0n && known.worth < WORTH.traded) known.worth = WORTH.traded
  }

  onError({ peer }: IncomingCall): void {
    this.#end(peer)
  }

  /** This node called an API at the owner and got a response. */
  answered(owner: string): void {
    const known = this.#use(owner)
    if (known.worth < WORTH.traded) known.worth = WORTH.traded
  }

  scores(): (peer: string) => PeerScore {
    const bound = new Set(this.#bound())
    return (peer) => {
      const known = this.#known.peek(peer)
      const least = this.#bootstrap.has(peer) ? WORTH.bootstrap : WORTH.nothing
      const traded = known !== undefined && known.worth > least ? known.worth : least
      return {
        worth: bound.has(peer) ? WORTH.bound : traded,
        isBusy: (known?.running ?? 0) > 0,
        usedAt: known?.usedAt
      }
    }
  }

  #end(peer: string): Known {
    const known = this.#use(peer)
    // The cache may have dropped the peer meanwhile.
    if (known.running > 0) known.running--
    return known
  }

  #use(peer: string): Known {
    const usedAt = this.#clock.elapsed()
    const known = this.#known.get(peer)
    if (known !== undefined) {
      known.usedAt = usedAt
      return known
    }
    const made: Known = { worth: WORTH.nothing, running: 0, usedAt }
    this.#known.set(peer, made)
    return made
  }
}
