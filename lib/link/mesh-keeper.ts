import type { Connection, Logger } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { multiaddr } from '@multiformats/multiaddr'
import { type Clock, deadline } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import { LOOKUP_MS } from '../base/limits/directory.ts'
import {
  NEIGHBOURS_CHECK_MS,
  NEIGHBOURS_MIN,
  NEIGHBOURS_SEARCH_FIRST_MS,
  NEIGHBOURS_SEARCH_MS
} from '../base/limits/link.ts'
import { draw, type Random } from '../base/random.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { Libp2pGossip } from './libp2p-gossip.ts'
import { probeConnection } from './probe-connection.ts'
import { RepeatedCheck } from './repeated-check.ts'

export interface MeshKeeperInit {
  readonly connectionManager: ConnectionManager
  readonly gossip: Pick<Libp2pGossip, 'neighbours' | 'reopen'>
  /** Peers that this node can probably dial. */
  readonly candidates: () => readonly PeerAddress[]
  /** Connects to nodes of the network that are new to this one. */
  readonly explore: (signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Keeps `NEIGHBOURS_MIN` neighbours that send announcements to this node. Busy nodes close their least valuable connections, others
 * leave without a word, and a stream may fail, so that a node may have connections but no neighbours. Then it would hear of no new
 * listing.
 */
export class MeshKeeper {
  readonly #init: MeshKeeperInit
  readonly #checks: RepeatedCheck
  /** Pause after the next search. */
  #pauseMs = NEIGHBOURS_SEARCH_FIRST_MS
  /** Time before which no search starts, unless a neighbour leaves. */
  #notBefore = 0
  /** Number of neighbours at the last check. */
  #count = 0

  constructor(init: MeshKeeperInit) {
    this.#init = init
    const { clock, log } = init
    this.#checks = new RepeatedCheck({
      check: (signal) => this.#check(signal),
      pauseMs: () => NEIGHBOURS_CHECK_MS,
      clock,
      log
    })
  }

  start(): void {
    this.#checks.start(NEIGHBOURS_CHECK_MS)
  }

  stop(): void {
    this.#checks.stop()
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { gossip, clock, log } = this.#init
    const { neighbours } = gossip
    const before = this.#count
    this.#count = neighbours.length
    // The number has changed since the last search, so the next one may find others.
    if (this.#count !== before) this.#pauseMs = NEIGHBOURS_SEARCH_FIRST_MS
    if (this.#count < before) this.#notBefore = 0
    if (this.#count >= NEIGHBOURS_MIN || clock.elapsed() < this.#notBefore) return
    log('%d neighbours send announcements, so this node looks for others', this.#count)
    this.#repair(new Set(neighbours), signal)
    await this.#search(NEIGHBOURS_MIN - neighbours.length, signal)
    this.#notBefore = clock.elapsed() + this.#pauseMs
    this.#pauseMs = Math.min(2 * this.#pauseMs, NEIGHBOURS_SEARCH_MS)
  }

  /** Connected peers that send no announcements are dead, which a ping shows, or their streams failed. */
  #repair(neighbours: ReadonlySet<string>, signal: AbortSignal): void {
    const { gossip, connectionManager, clock, log } = this.#init
    const repair = async (connection: Connection) => {
      await probeConnection(connection, clock)
      if (connection.status === 'open' && !signal.aborted) await gossip.reopen(connection)
    }
    for (const connection of connectionManager.getConnections()) {
      if (neighbours.has(connection.remotePeer.toString())) continue
      repair(connection).catch((error: unknown) => log('announcements of a peer: %s', reasonOf(error)))
    }
  }

  /** Dials some known peers, and peers that are new to this node. */
  async #search(missing: number, stopped: AbortSignal): Promise<void> {
    const { connectionManager, candidates, explore, clock, random, log } = this.#init
    const connected = new Set(connectionManager.getConnections().map(({ remotePeer }) => remotePeer.toString()))
    const known = candidates().filter(({ id }) => !connected.has(id))
    const limit = deadline(clock, LOOKUP_MS, () => new Error('the search takes too long'), stopped)
    const { signal } = limit
    const dials = draw(random, known, missing).map(({ addresses }) =>
      connectionManager.openConnection(
        addresses.map((address) => multiaddr(address)),
        { signal }
      )
    )
    for (const result of await Promise.allSettled([explore(signal), ...dials])) {
      if (result.status === 'rejected') log('a search for neighbours failed: %s', reasonOf(result.reason))
    }
    limit.clear()
  }
}
