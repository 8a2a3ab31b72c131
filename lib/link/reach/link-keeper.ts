import type { Connection, Libp2pEvents, Logger } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import { type Clock, deadline, type Timer } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import { CACHED_PEERS_MAX, DIAL_PEER_MS } from '../../base/limits/link.ts'
import {
  KEPT_LINK_RETRY_FIRST_MS,
  KEPT_LINK_RETRY_MS,
  KEPT_LINK_SLOW_MS,
  KEPT_LINKS_CHECK_MS,
  KEPT_LINKS_WANTED
} from '../../base/limits/reach.ts'
import type { PeerAddress } from '../../interface/link.ts'
import { probeConnection } from '../probe-connection.ts'
import { RepeatedCheck } from '../repeated-check.ts'
import { isRelayed } from './is-relayed.ts'

export interface LinkKeeperInit {
  readonly connectionManager: ConnectionManager
  readonly events: TypedEventTarget<Libp2pEvents>
  /** Public peers that this node can dial, best first. */
  readonly candidates: () => readonly PeerAddress[]
  /** Whether other nodes cannot dial this one, and have to. */
  readonly isWanted: () => boolean
  /** Whether this node serves APIs from behind a router. */
  readonly isBehindRouter: () => boolean
  readonly clock: Clock
  readonly log: Logger
}

interface Failure {
  readonly pauseMs: number
  readonly until: number
}

/**
 * Keeps direct links to `KEPT_LINKS_WANTED` public peers while this node cannot be dialled, so that calls reach it
 * without a relay. A lost link is dialled again, with growing pauses, and another peer replaces it meanwhile.
 *
 * A router that restarts, or gets another address, cuts all links of this node at once, and nobody can call it until it
 * dials again. So each check pings one of the links, in turn. If its peer does not respond soon, all connections are pinged.
 */
export class LinkKeeper {
  readonly #init: LinkKeeperInit
  readonly #failures = new Map<string, Failure>()
  /** Pings so far. */
  #pings = 0
  /** While a link is pinged. */
  #slow: Timer | undefined
  readonly #checks: RepeatedCheck

  constructor(init: LinkKeeperInit) {
    this.#init = init
    const { clock, log } = init
    this.#checks = new RepeatedCheck({
      check: (signal) => this.#check(signal),
      pauseMs: () => KEPT_LINKS_CHECK_MS,
      clock,
      log
    })
  }

  start(): void {
    this.#init.events.addEventListener('connection:close', this.#onClose)
    this.#checks.start(KEPT_LINKS_CHECK_MS)
  }

  stop(): void {
    this.#checks.stop()
    this.#slow?.cancel()
    this.#init.events.removeEventListener('connection:close', this.#onClose)
  }

  readonly #onClose = ({ detail }: CustomEvent<Connection>) => {
    if (!isRelayed(detail) && this.#init.isWanted()) this.#checks.again()
  }

  /** Each round replaces the peers that the round before did not reach. */
  async #check(signal: AbortSignal): Promise<void> {
    const { candidates, isWanted, isBehindRouter } = this.#init
    if (isBehindRouter() && this.#slow === undefined) void this.#ping()
    while (isWanted() && !signal.aborted) {
      const linked = this.#linked()
      const wanted = candidates().filter(({ id }) => linked.has(id) || !this.#isPaused(id))
      const missing = wanted.slice(0, KEPT_LINKS_WANTED).filter(({ id }) => !linked.has(id))
      const reached = await Promise.all(missing.map((peer) => this.#dial(peer, signal)))
      if (reached.every(Boolean)) return
    }
  }

  /** Pings one link. If its peer does not respond soon, pings all connections. */
  async #ping(): Promise<void> {
    const { candidates, connectionManager, clock, log } = this.#init
    const dialled = this.#direct().filter(({ direction }) => direction === 'outbound')
    const kept = candidates().flatMap(({ id }) => dialled.find((each) => each.remotePeer.toString() === id) ?? [])
    const next = kept[this.#pings++ % Math.min(kept.length, KEPT_LINKS_WANTED)]
    if (next === undefined) return
    let others: Promise<unknown> | undefined
    this.#slow = clock.after(KEPT_LINK_SLOW_MS, () => {
      log('%p does not respond, so all connections are pinged', next.remotePeer)
      const rest = connectionManager.getConnections().filter((each) => each !== next)
      others = Promise.all(rest.map((each) => probeConnection(each, clock)))
    })
    await probeConnection(next, clock)
    await others
    this.#slow.cancel()
    this.#slow = undefined
  }

  #direct(): Connection[] {
    return this.#init.connectionManager.getConnections().filter((each) => each.status === 'open' && !isRelayed(each))
  }

  #linked(): Set<string> {
    const linked = new Set(this.#direct().map(({ remotePeer }) => remotePeer.toString()))
    for (const id of linked) this.#failures.delete(id)
    return linked
  }

  #isPaused(id: string): boolean {
    return (this.#failures.get(id)?.until ?? 0) > this.#init.clock.elapsed()
  }

  async #dial({ id, addresses }: PeerAddress, signal: AbortSignal): Promise<boolean> {
    const { connectionManager, clock, log } = this.#init
    const limit = deadline(clock, DIAL_PEER_MS, () => new Error('the dial timed out'), signal)
    try {
      await connectionManager.openConnection(
        addresses.map((address) => multiaddr(address)),
        { signal: limit.signal }
      )
      log('linked to %s', id)
      return true
    } catch (error) {
      const pauseMs = Math.min(
        2 * (this.#failures.get(id)?.pauseMs ?? KEPT_LINK_RETRY_FIRST_MS / 2),
        KEPT_LINK_RETRY_MS
      )
      this.#failures.delete(id)
      this.#failures.set(id, { pauseMs, until: clock.elapsed() + pauseMs })
      const [oldest] = this.#failures.keys()
      if (this.#failures.size > CACHED_PEERS_MAX && oldest !== undefined) this.#failures.delete(oldest)
      log('no link to %s: %s', id, reasonOf(error))
      return false
    } finally {
      limit.clear()
    }
  }
}
