import type { MappedPort } from './port-mapping.ts'

/** How peers reach this node. `reachabilityText` says it in words. */
export interface Reachability {
  /**
   * - `direct`: peers dial it. `isConfirmed` says whether one has done so.
   * - `relayed`: peers dial it through relays.
   * - `private`: peers of its own machine or private network dial it, and the network allows that.
   * - `none`: no peer can dial it.
   */
  readonly state: 'direct' | 'relayed' | 'private' | 'none'
  /** The multiaddrs that peers dial, without the part `/p2p/<peer id>`. For `none`: the listen addresses. */
  readonly addresses: readonly string[]
  /** A peer has dialled one of the direct addresses. */
  readonly isConfirmed: boolean
  /** Peer ids of the relays in use. */
  readonly relays: readonly string[]
  /** TCP port on which this node listens for peers. */
  readonly port: number | undefined
  /** The node listens on all interfaces, but this machine has only its own, 127.0.0.1 and ::1. */
  readonly isOffline: boolean
  /** TCP port of the router that forwards it to this node, by its own account. */
  readonly mapped?: MappedPort | undefined
  /** Number of peers that tried to dial this node in the last check. */
  readonly asked: number
  /**
   * How far this machine's clock is ahead of those of its peers, in milliseconds; negative if it is behind, 0 if it differs by
   * `CLOCK_SKEW_MS` at most. Absent while no peer has told its time. With a wrong clock, others refuse what the node signs.
   */
  readonly clockAheadMs?: number | undefined
}
