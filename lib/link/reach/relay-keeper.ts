import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection, Libp2pEvents, Logger, PeerId, PeerStore, TagOptions } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import { boundedMap, type RecentMap } from '../../base/bounded-map.ts'
import { type Clock, deadline } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import { DIAL_PEER_MS } from '../../base/limits/link.ts'
import {
  REACH_SETTLE_MS,
  RELAY_CHECK_MS,
  RELAY_RENEWALS_MISSED_MAX,
  RELAY_RESERVE_MS,
  RELAY_RETRY_MS,
  RELAY_SEARCH_MS,
  RELAYS_FAILED_MAX,
  RELAYS_WANTED
} from '../../base/limits/reach.ts'
import { RepeatedCheck } from '../repeated-check.ts'
import { isCircuit, isRelayed } from './is-relayed.ts'
import { fillsGap, type Gap, GAPS } from './reach-gaps.ts'
import { ANY_RELAY, RelayedAddresses } from './relayed-addresses.ts'
import { reservePlace, ReservationRefusedError } from './reserve-place.ts'

/** Which relays a node needs now. */
export interface RelayNeed {
  /** Relays to have and to search for. 0 where other nodes can dial this one. */
  readonly relays: number
  /** Peers that cannot dial this node's own addresses. A connected relay that they can dial is reserved for each kind. */
  readonly gaps: readonly Gap[]
}

export interface RelayKeeperInit {
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly peerStore: PeerStore
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly bootstrap: readonly string[]
  readonly need: () => RelayNeed
  /** A relay was reserved, or a check ended. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly log: Logger
}

/** A connected peer that relays. */
interface Candidate {
  readonly connection: Connection
  readonly fills: readonly Gap[]
}

/** A full node closes connections to peers without a tag first. */
const TAG = 'souk-relay'

/** A relay with a reservation, which ends with the connection. */
interface HeldRelay {
  readonly connection: Connection
  addresses: readonly Multiaddr[]
  /** When the reservation was made or last renewed. */
  renewedAt: number
  readonly fills: readonly Gap[]
  /** Renewals in a row without a response. */
  missed: number
}

/**
 * Keeps reservations on relays while this node needs them, and announces its addresses there. It renews each reservation every
 * `RELAY_CHECK_MS`, which also restores one that the relay forgot. The relay's connection carries everything else to that peer as
 * well, so a slow response does not end it.
 */
export class RelayKeeper {
  readonly #init: RelayKeeperInit
  readonly #held = new Map<string, HeldRelay>()
  /** When a relay that refused or failed may be asked again. */
  readonly #failed = boundedMap<string, number>(RELAYS_FAILED_MAX)
  /** When a relay that was not reached may be dialled again. If it connects, it may be asked at once. */
  readonly #unreached = boundedMap<string, number>(RELAYS_FAILED_MAX)
  #announced: RelayedAddresses | undefined
  readonly #checks: RepeatedCheck

  constructor(init: RelayKeeperInit) {
    this.#init = init
    const { clock, log, onChange } = init
    this.#checks = new RepeatedCheck({
      check: (signal) => this.#keep(signal).finally(onChange),
      pauseMs: () => (this.#isShort ? RELAY_SEARCH_MS : RELAY_CHECK_MS),
      clock,
      log
    })
  }

  start(): void {
    const transports = this.#init.transportManager.getTransports()
    if (!transports.some((transport) => transport.listenFilter([ANY_RELAY]).length > 0)) return
    this.#init.events.addEventListener('connection:close', this.#onClose)
    this.#init.events.addEventListener('peer:identify', this.#onIdentify)
    this.#checks.start(REACH_SETTLE_MS)
  }

  stop(): void {
    this.#checks.stop()
    this.#held.clear()
    this.#init.events.removeEventListener('connection:close', this.#onClose)
    this.#init.events.removeEventListener('peer:identify', this.#onIdentify)
  }

  /** Peer ids of the relays with a reservation. */
  get relays(): readonly string[] {
    return this.#open().map(({ connection }) => connection.remotePeer.toString())
  }

  #open(): HeldRelay[] {
    return [...this.#held.values()].filter(({ connection }) => connection.status === 'open')
  }

  /** The need for relays changed. */
  wake(): void {
    this.#checks.again(0)
  }

  readonly #onClose = ({ detail }: CustomEvent<Connection>) => {
    if (this.#held.get(detail.remotePeer.toString())?.connection !== detail) return
    this.#leave(detail.remotePeer)
    this.wake()
  }

  readonly #onIdentify = () => {
    if (this.#isShort || this.#openGaps().length > 0) this.#checks.again()
  }

  get #isShort(): boolean {
    return this.relays.length < this.#init.need().relays
  }

  /** Kinds of peers that can dial neither this node nor its relays. */
  #openGaps(): Gap[] {
    const filled = this.#open().flatMap(({ fills }) => fills)
    return this.#init.need().gaps.filter((gap) => !filled.includes(gap))
  }

  async #keep(signal: AbortSignal): Promise<void> {
    await this.#listen()
    if (signal.aborted) return
    // Peers may still have the address of a relay that is no longer needed, so it is renewed as well.
    await Promise.all(this.relays.map((id) => this.#renew(id)))
    const { relays, gaps } = this.#init.need()
    if (relays === 0 && gaps.length === 0) return
    await this.#reserveMissing(signal)
    if (!this.#isShort) return
    await this.#dialMore()
    await this.#reserveMissing(signal)
  }

  async #reserveMissing(signal: AbortSignal): Promise<void> {
    const candidates = await this.#candidates()
    while (!signal.aborted) {
      const open = this.#openGaps()
      const index = candidates.findIndex(({ fills }) => open.some((gap) => fills.includes(gap)))
      if (index < 0 && !this.#isShort) break
      const [next] = candidates.splice(Math.max(index, 0), 1)
      if (next === undefined) break
      await this.#reserve(next)
    }
  }

  /** Public peers that relay. This node dialled them, so their addresses work. */
  async #candidates(): Promise<Candidate[]> {
    const found: Candidate[] = []
    const held = this.relays
    for (const connection of this.#init.connectionManager.getConnections()) {
      const id = connection.remotePeer.toString()
      if (connection.direction !== 'outbound' || connection.status !== 'open' || isRelayed(connection)) continue
      if (
        held.includes(id) ||
        this.#isPaused(this.#failed, id) ||
        found.some((other) => other.connection.remotePeer.equals(connection.remotePeer))
      )
        continue
      const known = await this.#init.peerStore.get(connection.remotePeer).catch(() => undefined)
      if (known?.protocols.includes(RELAY_V2_HOP_CODEC) !== true) continue
      // A relay's reservation names all addresses that it announces.
      const told = known.addresses.map(({ multiaddr }) => multiaddr)
      const addresses = [connection.remoteAddr, ...told.filter((address) => !isCircuit(address))]
      found.push({ connection, fills: GAPS.filter((gap) => fillsGap(gap, addresses)) })
    }
    return found
  }

  /** Dials relays that are not connected: bootstrap peers, and peers that said they relay. */
  async #dialMore(): Promise<void> {
    const { connectionManager, peerStore, bootstrap, clock } = this.#init
    const known = await peerStore.all({ filters: [({ protocols }) => protocols.includes(RELAY_V2_HOP_CODEC)] })
    const ids = [...bootstrap.flatMap((address) => idIn(address) ?? []), ...known.map(({ id }) => id.toString())]
    const connected = new Set(connectionManager.getConnections().map(({ remotePeer }) => remotePeer.toString()))
    const isPaused = (id: string) => this.#isPaused(this.#failed, id) || this.#isPaused(this.#unreached, id)
    const next = [...new Set(ids)].filter((id) => !connected.has(id) && !isPaused(id)).slice(0, RELAYS_WANTED)
    const limit = deadline(clock, DIAL_PEER_MS, () => new Error('the dial timed out'))
    const dial = async (id: string) => {
      const addresses = bootstrap.filter((address) => idIn(address) === id).map((address) => multiaddr(address))
      await connectionManager
        .openConnection(addresses.length > 0 ? addresses : peerIdFromString(id), { signal: limit.signal })
        .catch((error: unknown) => this.#pause(this.#unreached, id, error))
    }
    await Promise.all(next.map(dial))
    limit.clear()
  }

  async #reserve({ connection, fills }: Candidate): Promise<void> {
    const { remotePeer } = connection
    const id = remotePeer.toString()
    const { clock, log, onChange } = this.#init
    try {
      const addresses = await this.#ask(connection)
      if (connection.status !== 'open') throw new Error('the connection closed')
      this.#held.set(id, { connection, addresses, renewedAt: clock.elapsed(), fills, missed: 0 })
      this.#announce()
      log('%s relays for this node', id)
      onChange()
      this.#tag(remotePeer, { value: 1 })
    } catch (error) {
      this.#pause(this.#failed, id, error)
    }
  }

  /** A relay that refuses, or no longer responds, is left, so that its addresses are withdrawn. */
  async #renew(id: string): Promise<void> {
    const { clock, log } = this.#init
    const held = this.#held.get(id)
    // Searches for further relays run more often than renewals.
    if (held === undefined || clock.elapsed() - held.renewedAt < RELAY_CHECK_MS) return
    held.renewedAt = clock.elapsed()
    try {
      held.addresses = await this.#ask(held.connection)
      held.missed = 0
      this.#announce()
    } catch (error) {
      held.missed++
      if (!(error instanceof ReservationRefusedError) && held.missed < RELAY_RENEWALS_MISSED_MAX) {
        log('%s did not renew the reservation: %s', id, reasonOf(error))
        return
      }
      this.#pause(this.#failed, id, error)
      if (this.#held.get(id) === held) this.#leave(held.connection.remotePeer)
    }
  }

  async #ask(connection: Connection): Promise<Multiaddr[]> {
    const limit = deadline(this.#init.clock, RELAY_RESERVE_MS, () => new Error('the relay did not respond in time'))
    try {
      return await reservePlace(connection, limit.signal)
    } finally {
      limit.clear()
    }
  }

  #leave(relay: PeerId): void {
    this.#held.delete(relay.toString())
    this.#announce()
    this.#tag(relay, undefined)
  }

  #tag(relay: PeerId, tag: TagOptions | undefined): void {
    const { peerStore, log } = this.#init
    peerStore
      .merge(relay, { tags: { [TAG]: tag } })
      .catch((error: unknown) => log('%p could not be tagged: %s', relay, reasonOf(error)))
  }

  /** libp2p closes the listener when it stops. A node with libp2p's own transport over relays looks for them by itself. */
  async #listen(): Promise<void> {
    const { transportManager, log } = this.#init
    const find = () => transportManager.getListeners().find((listener) => listener instanceof RelayedAddresses)
    if (find() === undefined) await transportManager.listen([ANY_RELAY])
    this.#announced = find()
    if (this.#announced !== undefined) return
    log('this node has no `soukCircuits`, so it keeps no relays')
    this.stop()
  }

  #announce(): void {
    const addresses = this.#open().flatMap((relay) => relay.addresses)
    this.#announced?.set(addresses.map((address) => address.encapsulate('/p2p-circuit')))
  }

  #isPaused(until: RecentMap<string, number>, id: string): boolean {
    return (until.get(id) ?? 0) > this.#init.clock.elapsed()
  }

  #pause(until: RecentMap<string, number>, id: string, error: unknown): void {
    until.set(id, this.#init.clock.elapsed() + RELAY_RETRY_MS)
    this.#init.log('%s does not relay for this node: %s', id, reasonOf(error))
  }
}

const idIn = (address: string): string | undefined => /\/p2p\/([^/]+)$/.exec(address)?.[1]
