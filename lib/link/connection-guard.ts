import type {
  Connection,
  ConnectionGater,
  Libp2p,
  MultiaddrConnection,
  PeerId,
  PeerStore,
  PeerUpdate
} from '@libp2p/interface'
import { type Clock, deadline } from '../base/clock.ts'
import {
  CONNECTION_CLOSE_MS,
  CONNECTION_NEW_MS,
  CONNECTIONS_MAX,
  CONNECTIONS_NEW_MAX,
  CONNECTIONS_PENDING_MAX,
  CONNECTIONS_PENDING_PER_HOST_MAX,
  CONNECTIONS_PER_HOST_MAX,
  CONNECTIONS_PER_HOST_PER_SECOND,
  CONNECTIONS_PER_SITE_MAX,
  CONNECTION_HOSTS_MAX
} from '../base/limits/link.ts'
import { TokenBuckets } from '../base/token-bucket.ts'
import { type Host, hostOf } from './host-of.ts'
import { type PeerScore, type PeerWorth, WORTH } from './peer-worth.ts'

/** Limits of a node's connections. Defaults are in `base/limits.ts`. */
export interface ConnectionRules {
  readonly connectionsMax?: number
  /** Connections of one host. Peers with channels, subscriptions or paid calls do not count. */
  readonly perHostMax?: number
  readonly perHostPerSecond?: number
  readonly pendingPerHostMax?: number
  /**
   * Counts each private address as a host. Default false, because a proxy or a local network has many peers behind one.
   */
  readonly countsPrivate?: boolean
}

interface Tracked {
  readonly connection: Connection
  readonly peer: string
  readonly host: Host | undefined
  readonly openedAt: number
}

/**
 * Decides which connections a node keeps. Each host has a share. When the share or the node is full, the least valuable
 * connection is closed, so that a new peer can always connect. Of unfinished handshakes, that is the oldest one of the
 * site with the most.
 */
export class ConnectionGuard {
  readonly #rules: Required<ConnectionRules>
  readonly #clock: Clock
  readonly #worth: PeerWorth
  readonly #arrivals: TokenBuckets
  /** Connections in handshake, oldest first, and their hosts. */
  readonly #pending = new Map<MultiaddrConnection, Host | undefined>()
  /** Open connections, oldest first. */
  readonly #open = new Map<string, Tracked>()
  readonly #tagged = new Set<string>()

  constructor(rules: ConnectionRules, worth: PeerWorth, clock: Clock) {
    this.#rules = {
      connectionsMax: CONNECTIONS_MAX,
      perHostMax: CONNECTIONS_PER_HOST_MAX,
      perHostPerSecond: CONNECTIONS_PER_HOST_PER_SECOND,
      pendingPerHostMax: CONNECTIONS_PENDING_PER_HOST_MAX,
      countsPrivate: false,
      ...rules
    }
    this.#clock = clock
    this.#worth = worth
    const { perHostPerSecond, perHostMax } = this.#rules
    // The burst is a host's whole share, because all nodes of a LAN return together after an outage.
    const rate = { burst: Math.max(perHostMax, perHostPerSecond), perSecond: perHostPerSecond }
    this.#arrivals = new TokenBuckets(rate, CONNECTION_HOSTS_MAX, clock)
  }

  /** For `createLibp2p`: decides who may start a handshake. */
  readonly gater: ConnectionGater = {
    denyInboundConnection: (arriving) => this.#denies(arriving),
    denyInboundUpgradedConnection: (_peer: PeerId, arrived) => {
      this.#pending.delete(arrived)
      return false
    }
  }

  /** Call it with the node that uses this gater, before it starts. */
  watch(libp2p: Pick<Libp2p, 'addEventListener' | 'peerStore'>): void {
    libp2p.addEventListener('connection:open', ({ detail }) => void this.#onOpen(detail, libp2p.peerStore))
    libp2p.addEventListener('connection:close', ({ detail }) => void this.#open.delete(detail.id))
    libp2p.addEventListener('peer:update', ({ detail }) => this.#onUpdate(detail))
    libp2p.addEventListener('peer:disconnect', ({ detail }) => void this.#tagged.delete(detail.toString()))
  }

  #denies(arriving: MultiaddrConnection): boolean {
    const host = hostOf(arriving.remoteAddr)
    const counted = this.#counted(host)
    if (counted !== undefined) {
      const ofHost = [...this.#pending.values()].filter((other) => other?.key === counted.key).length
      if (ofHost >= this.#rules.pendingPerHostMax || !this.#arrivals.take(counted.key)) return true
    }
    if (this.#pending.size >= CONNECTIONS_PENDING_MAX) this.#dropHandshake()
    this.#pending.set(arriving, host)
    arriving.addEventListener('close', () => void this.#pending.delete(arriving))
    return false
  }

  /** A peer that says nothing would keep its place for `CONNECTION_UPGRADE_MS`. */
  #dropHandshake(): void {
    const bySite = Map.groupBy(this.#pending, ([, host]) => host?.site ?? host?.key)
    const [most] = [...bySite.values()].sort((a, b) => b.length - a.length)
    const [oldest] = most?.[0] ?? []
    if (oldest === undefined) return
    this.#pending.delete(oldest)
    oldest.abort(new Error('the handshake was ended to make room for another one'))
  }

  async #onOpen(connection: Connection, peerStore: PeerStore): Promise<void> {
    const peer = connection.remotePeer.toString()
    if (connection.status !== 'open') return
    const host = this.#counted(hostOf(connection.remoteAddr))
    const newcomer = { connection, peer, host, openedAt: this.#clock.elapsed() }
    this.#open.set(connection.id, newcomer)
    this.#makeRoom(newcomer)
    const known = await peerStore.get(connection.remotePeer).catch(() => undefined)
    if (known !== undefined) this.#onUpdate({ peer: known })
  }

  #onUpdate({ peer }: Pick<PeerUpdate, 'peer'>): void {
    if (peer.tags.size > 0) this.#tagged.add(peer.id.toString())
    else this.#tagged.delete(peer.id.toString())
    // Events arrive for unconnected peers too. Their tags are removed, so that the set stays bounded.
    if (this.#tagged.size <= 2 * this.#rules.connectionsMax) return
    const connected = new Set([...this.#open.values()].map((each) => each.peer))
    for (const tagged of this.#tagged) if (!connected.has(tagged)) this.#tagged.delete(tagged)
  }

  #counted(host: Host | undefined): Host | undefined {
    return host?.isPrivate === true && !this.#rules.countsPrivate ? undefined : host
  }

  #makeRoom(newcomer: Tracked): void {
    const { connectionsMax, perHostMax } = this.#rules
    const { host } = newcomer
    const ofHost = host === undefined ? [] : this.#others(newcomer, (other) => other.host?.key === host.key)
    const ofSite = host?.site === undefined ? [] : this.#others(newcomer, (other) => other.host?.site === host.site)
    const isFull = this.#open.size > connectionsMax
    const shareIsFull = ofHost.length >= perHostMax
    const siteIsFull = ofSite.length >= (perHostMax * CONNECTIONS_PER_SITE_MAX) / CONNECTIONS_PER_HOST_MAX
    if (!isFull && !shareIsFull && !siteIsFull) return
    const scores = this.#scores()
    if (shareIsFull) this.#thin(ofHost, perHostMax, scores)
    if (siteIsFull) this.#thin(ofSite, (perHostMax * CONNECTIONS_PER_SITE_MAX) / CONNECTIONS_PER_HOST_MAX, scores)
    if (this.#open.size > connectionsMax) this.#evict(leastOf(this.#candidates(newcomer), scores))
  }

  /**
   * A peer that trades with this node does not count in its host's share, so others behind the same address cannot
   * displace it.
   */
  #thin(sharing: readonly Tracked[], most: number, scores: (each: Tracked) => PeerScore): void {
    const counted = sharing.filter((each) => this.#open.has(each.connection.id) && scores(each).worth < WORTH.traded)
    if (counted.length >= most) this.#evict(leastOf(counted, scores))
  }

  #others(newcomer: Tracked, isMeant: (other: Tracked) => boolean): Tracked[] {
    return [...this.#open.values()].filter((other) => other !== newcomer && isMeant(other))
  }

  /** New connections have had no time to become valuable. They are protected for a while, up to a number. */
  #candidates(newcomer: Tracked): Tracked[] {
    const others = this.#others(newcomer, () => true)
    const since = this.#clock.elapsed() - CONNECTION_NEW_MS
    const firstNew = others.findIndex(({ openedAt }) => openedAt > since)
    if (firstNew < 0) return others
    const newMax = Math.min(CONNECTIONS_NEW_MAX, Math.ceil(this.#rules.connectionsMax / 8))
    return others.slice(0, Math.max(firstNew, others.length - newMax))
  }

  #scores(): (each: Tracked) => PeerScore {
    const scoreOf = this.#worth.scores()
    return ({ peer }) => {
      const score = scoreOf(peer)
      return score.worth === WORTH.nothing && this.#tagged.has(peer) ? { ...score, worth: WORTH.tagged } : score
    }
  }

  #evict(least: Tracked | undefined): void {
    if (least === undefined) return
    const { connection } = least
    // The slot is free at once, however long the close takes.
    this.#open.delete(connection.id)
    connection.log('closed to make room for a new connection')
    const limit = deadline(this.#clock, CONNECTION_CLOSE_MS, () => new Error('closing the connection timed out'))
    connection
      .close({ signal: limit.signal })
      .catch(() => connection.abort(new Error('the connection was closed to make room for another one')))
      .finally(() => limit.clear())
  }
}

/** Sorted by worth, then idle before busy, then least recently used first. */
function leastOf(tracked: readonly Tracked[], scoreOf: (each: Tracked) => PeerScore): Tracked | undefined {
  let least: { tracked: Tracked; rank: readonly [number, number, number] } | undefined
  for (const each of tracked) {
    const { worth, isBusy, usedAt = 0 } = scoreOf(each)
    const rank = [worth, Number(isBusy), Math.max(usedAt, each.openedAt)] as const
    if (least === undefined || isLess(rank, least.rank)) least = { tracked: each, rank }
  }
  return least?.tracked
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index])
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0)
}
