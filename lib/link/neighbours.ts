import type { IdentifyResult, Libp2pEvents, Logger, PeerId } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import { boundedMap } from '../base/bounded-map.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { reasonOf } from '../base/component-log.ts'
import { ADDRESSES_PER_PEER_MAX } from '../base/limits/directory.ts'
import {
  CACHED_PEERS_MAX,
  JOIN_MS,
  JOINING_MS,
  REJOIN_FIRST_MS,
  REJOIN_MS,
  RETURN_MS,
  RETURNS_MAX
} from '../base/limits/link.ts'
import { SERVED_STORED_MS } from '../base/limits/reach.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { Documents } from '../interface/store.ts'
import { parsedAddress } from './parsed-address.ts'
import type { PeerWorth } from './peer-worth.ts'

export interface NeighboursInit {
  readonly connectionManager: ConnectionManager
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly clock: Clock
  readonly documents: Documents
  /** Multiaddrs of bootstrap nodes with `/p2p/<peer id>`. */
  readonly bootstrap: readonly string[]
  /** Which peers called this node. Default: unknown. */
  readonly worth?: Pick<PeerWorth, 'scores'> | undefined
  readonly log: Logger
}

/** Document collection: addresses of known peers by peer id. The oldest `metAt` is evicted first. */
const PEERS = 'peers'

interface MetPeer {
  readonly addresses: readonly string[]
  readonly metAt: number
  /** This node has dialled the peer, so its address is valid. A flood of incoming identities does not get this mark. */
  readonly isDialled?: boolean
  /** When calls flowed between the peer and this node, within `SERVED_STORED_MS`. */
  readonly servedAt?: number
}

/**
 * Keeps a node connected. It dials the bootstrap peers and known peers at start, and whenever no peer is connected.
 * libp2p's own keep-alive stops half a minute after a peer left.
 */
export class Neighbours {
  readonly #init: NeighboursInit
  readonly #met = new Map<string, MetPeer>()
  #bootstrap: readonly string[]
  #timer: Timer | undefined
  #stopped = new AbortController()
  /** When this node got its first peer. Undefined while it has none. */
  #joinedAt: number | undefined
  #onJoined = Promise.withResolvers<void>()
  /** The known peers are being dialled. */
  #isDialling = false
  /** No known peer has refused a connection, so one that is slow may accept it. */
  #isSilent = true
  /** When the last connection to a peer closed. */
  readonly #leftAt = boundedMap<string, number>(RETURNS_MAX)

  constructor(init: NeighboursInit) {
    this.#init = init
    this.#bootstrap = init.bootstrap
  }

  /** Resolves after the first attempt to join. */
  async start(): Promise<void> {
    this.#stopped = new AbortController()
    for (const { key, value } of await this.#init.documents.list(PEERS))
      this.#met.set(key, JSON.parse(value) as MetPeer)
    const { events } = this.#init
    events.addEventListener('peer:identify', this.#onIdentify)
    events.addEventListener('connection:open', this.#onConnections)
    events.addEventListener('connection:close', this.#onConnections)
    events.addEventListener('peer:disconnect', this.#onGone)
    await this.#rejoin(REJOIN_FIRST_MS)
  }

  stop(): void {
    this.#stopped.abort()
    this.#timer?.cancel()
    const { events } = this.#init
    events.removeEventListener('peer:identify', this.#onIdentify)
    events.removeEventListener('connection:open', this.#onConnections)
    events.removeEventListener('connection:close', this.#onConnections)
    events.removeEventListener('peer:disconnect', this.#onGone)
  }

  /** Dials further bootstrap peers now, and whenever no peer is connected. */
  addBootstrap(addresses: readonly string[]): void {
    const { connectionManager, log } = this.#init
    const added = addresses.filter((address) => !this.#bootstrap.includes(address))
    this.#bootstrap = [...this.#bootstrap, ...added]
    for (const { id, addresses } of groupByPeer(added)) {
      connectionManager
        .openConnection(addresses, { signal: this.#stopped.signal })
        .catch((error: unknown) => log('bootstrap peer %s is not reachable: %s', id, reasonOf(error)))
    }
  }

  /** Whether any peer to join by is known. */
  get hasOthers(): boolean {
    return this.#bootstrap.length > 0 || this.#met.size > 0
  }

  /** The network may have APIs that this node cannot find yet, because it got its first peer a moment ago. */
  get isJoining(): boolean {
    return this.#joinedAt !== undefined && this.#init.clock.elapsed() - this.#joinedAt < JOINING_MS
  }

  get isConnected(): boolean {
    return !this.#isAlone
  }

  /** Whether the peer is connected, or was less than `RETURN_MS` ago. Then it is probably about to connect again. */
  wasConnected(peer: string): boolean {
    const leftAt = this.#leftAt.get(peer)
    if (leftAt !== undefined && this.#init.clock.elapsed() - leftAt < RETURN_MS) return true
    return this.#init.connectionManager.getConnections(peerIdFromString(peer)).length > 0
  }

  /**
   * Dials the known peers if none is connected. Resolves when one is. Otherwise it resolves after `JOIN_MS` if all peers
   * refuse, and the first time after `RETURN_MS` if their responses are missing: the network is slow, or this machine is busy.
   */
  async connected(signal: AbortSignal): Promise<void> {
    if (this.#joinedAt !== undefined || !this.hasOthers) return
    const { clock } = this.#init
    const { promise } = this.#onJoined
    if (!this.#isDialling) this.#schedule(0, REJOIN_FIRST_MS)
    await waitAtMost(clock, JOIN_MS, promise, signal)
    if (!this.#isSilent || !this.#isAlone) return
    await waitAtMost(clock, RETURN_MS - JOIN_MS, promise, signal)
    // Later lookups do not wait as long for the same peers.
    if (this.#isAlone && !signal.aborted) this.#isSilent = false
  }

  /** Peers whose addresses work, best first: bootstrap peers, then those that called this node last. */
  dialable(): PeerAddress[] {
    this.#rememberServed()
    const met = [...this.#met].filter(([, { isDialled }]) => isDialled === true)
    const byUse = met.toSorted(([, a], [, b]) => (b.servedAt ?? 0) - (a.servedAt ?? 0) || b.metAt - a.metAt)
    const known = [...this.#bootstrap, ...byUse.flatMap(([, { addresses }]) => addresses)]
    return groupByPeer(known).map(({ id, addresses }) => ({ id, addresses: addresses.map(String) }))
  }

  /** Other peers may have called before a restart, so the times are stored. */
  #rememberServed(): void {
    const score = this.#init.worth?.scores()
    const now = this.#init.clock.now()
    for (const [id, peer] of this.#met) {
      const isServed = score?.(id).usedAt !== undefined
      if (isServed && now - (peer.servedAt ?? 0) >= SERVED_STORED_MS)
        void this.#remember(id, { ...peer, servedAt: now })
    }
  }

  readonly #onConnections = () => {
    const isAlone = this.#isAlone
    if (isAlone === (this.#joinedAt === undefined)) return
    if (isAlone) {
      this.#joinedAt = undefined
      this.#isSilent = true
      this.#onJoined = Promise.withResolvers()
      this.#schedule(REJOIN_FIRST_MS, REJOIN_FIRST_MS)
    } else {
      this.#joinedAt = this.#init.clock.elapsed()
      this.#onJoined.resolve()
    }
  }

  readonly #onGone = ({ detail: peer }: CustomEvent<PeerId>) => {
    this.#leftAt.set(peer.toString(), this.#init.clock.elapsed())
  }

  get #isAlone(): boolean {
    return this.#init.connectionManager.getConnections().length === 0
  }

  #schedule(ms: number, pauseMs: number): void {
    if (this.#stopped.signal.aborted) return
    this.#timer?.cancel()
    this.#timer = this.#init.clock.after(ms, () => void this.#rejoin(pauseMs))
  }

  /** Dials all known peers when none is connected, and schedules the next check. */
  async #rejoin(pauseMs: number): Promise<void> {
    const { connectionManager, clock, log } = this.#init
    if (this.#isAlone) {
      const startedAt = clock.elapsed()
      this.#isDialling = true
      const known = [...this.#bootstrap, ...[...this.#met.values()].flatMap(({ addresses }) => addresses)]
      const dials = groupByPeer(known).map(({ addresses }) =>
        connectionManager.openConnection(addresses, { signal: this.#stopped.signal })
      )
      // One connection is enough; other dials may take longer to fail.
      await Promise.any(dials).catch((error: unknown) => {
        this.#isSilent &&= clock.elapsed() - startedAt >= JOIN_MS
        if (dials.length > 0) log('none of %d known peers is reachable: %s', dials.length, reasonOf(error))
      })
      this.#isDialling = false
    }
    this.#onConnections()
    const isAlone = this.#isAlone
    this.#schedule(isAlone ? pauseMs : REJOIN_MS, isAlone ? Math.min(2 * pauseMs, REJOIN_MS) : REJOIN_FIRST_MS)
  }

  readonly #onIdentify = ({ detail }: CustomEvent<IdentifyResult>) => {
    const id = detail.peerId.toString()
    // A peer reports these addresses itself. It may list too many, or those of others.
    const own = detail.listenAddrs.flatMap((address) => addressOf(address, id) ?? [])
    const addresses = own.slice(0, ADDRESSES_PER_PEER_MAX)
    if (addresses.length === 0) return
    const known = this.#met.get(id)
    const isDialled = known?.isDialled === true || detail.connection?.direction === 'outbound'
    const isSame = known?.addresses.join() === addresses.join() && (known.isDialled ?? false) === isDialled
    if (!isSame) void this.#remember(id, { ...known, addresses, metAt: this.#init.clock.now(), isDialled })
  }

  async #remember(id: string, peer: MetPeer): Promise<void> {
    const { documents, log } = this.#init
    try {
      this.#met.set(id, peer)
      await documents.put(PEERS, id, JSON.stringify(peer))
      if (this.#met.size <= CACHED_PEERS_MAX) return
      const [oldest] = [...this.#met].sort(
        ([, a], [, b]) => Number(a.isDialled ?? false) - Number(b.isDialled ?? false) || lastUse(a) - lastUse(b)
      )
      if (oldest === undefined) return
      this.#met.delete(oldest[0])
      await documents.delete(PEERS, oldest[0])
    } catch (error) {
      log('a peer could not be stored: %s', reasonOf(error))
    }
  }
}

/** The address with the peer's id at its end. Undefined where it ends with another id, or its text does not parse. */
function addressOf(address: Multiaddr, id: string): string | undefined {
  const last = address.getComponents().at(-1)
  if (last?.name === 'p2p' && last.value !== id) return undefined
  const text = last?.name === 'p2p' ? address.toString() : `${address.toString()}/p2p/${id}`
  return parsedAddress(text) && text
}

const lastUse = ({ metAt, servedAt = 0 }: MetPeer): number => Math.max(metAt, servedAt)

/** libp2p dials a list of addresses only if all belong to one peer. */
function groupByPeer(addresses: readonly string[]): Array<{ readonly id: string; readonly addresses: Multiaddr[] }> {
  const groups = new Map<string, Multiaddr[]>()
  for (const text of addresses) {
    const address = parsedAddress(text)
    if (address === undefined) continue
    const peer = address.getComponents().findLast(({ name }) => name === 'p2p')?.value ?? text
    groups.set(peer, [...(groups.get(peer) ?? []), address])
  }
  return [...groups].map(([id, addresses]) => ({ id, addresses }))
}
