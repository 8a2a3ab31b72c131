import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection, Libp2pEvents, Logger, PeerId, PeerStore } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import { boundedMap, type RecentMap } from '../../base/bounded-map.ts'
import { type Clock, deadline, type Timer } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import { DIAL_ADDRESS_MS } from '../../base/limits/link.ts'
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
import { isCircuit, isRelayed } from './is-relayed.ts'
import { fillsGap, type Gap, GAPS } from './reach-gaps.ts'
import { renewReservation, ReservationRefusedError } from './renew-reservation.ts'

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
  /** The relays in use changed. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly log: Logger
}

/** A connected peer that relays. */
interface Candidate {
  readonly connection: Connection
  readonly fills: readonly Gap[]
}

/** The part of libp2p's relay transport that this keeper uses. */
interface Reservations {
  hasReservation(peer: PeerId): boolean
  addRelay(peer: PeerId, type: 'configured'): Promise<unknown>
}

/** A relay with a reservation. */
interface HeldRelay {
  readonly peer: PeerId
  /** When the reservation was made or last renewed. */
  renewedAt: number
  readonly fills: readonly Gap[]
  /** Renewals in a row without a response. */
  missed: number
}

/**
 * Keeps reservations on relays while this node needs them. libp2p drops a reservation when the
 * connection to its relay closes, and never looks for another relay by itself. It does not notice a relay that forgot
 * the reservation. So this keeper renews each reservation every `RELAY_CHECK_MS`, which also restores a forgotten one.
 * The relay's connection carries everything else to that peer as well, so a slow response does not end it.
 */
export class RelayKeeper {
  readonly #init: RelayKeeperInit
  /** Relays with a libp2p listener, which announces their addresses. */
  readonly #listened = new Set<string>()
  readonly #held = new Map<string, HeldRelay>()
  /** When a relay that refused or failed may be asked again. */
  readonly #failed = boundedMap<string, number>(RELAYS_FAILED_MAX)
  /** When a relay that was not reached may be dialled again. If it connects, it may be asked at once. */
  readonly #unreached = boundedMap<string, number>(RELAYS_FAILED_MAX)
  #timer: Timer | undefined
  #isChecking = false
  #isRunning = false

  constructor(init: RelayKeeperInit) {
    this.#init = init
  }

  start(): void {
    if (this.#reservations() === undefined) return
    this.#isRunning = true
    this.#init.events.addEventListener('connection:close', this.#onClose)
    this.#init.events.addEventListener('peer:identify', this.#onIdentify)
    this.#schedule(REACH_SETTLE_MS)
  }

  stop(): void {
    this.#isRunning = false
    this.#timer?.cancel()
    this.#init.events.removeEventListener('connection:close', this.#onClose)
    this.#init.events.removeEventListener('peer:identify', this.#onIdentify)
  }

  /** Peer ids of the relays with a reservation. */
  get relays(): readonly string[] {
    const reservations = this.#reservations()
    return [...this.#held].filter(([, { peer }]) => reservations?.hasReservation(peer) === true).map(([id]) => id)
  }

  /** The need for relays changed. */
  wake(): void {
    if (this.#isRunning) this.#schedule(0)
  }

  readonly #onClose = ({ detail }: CustomEvent<Connection>) => {
    if (this.#held.has(detail.remotePeer.toString())) this.wake()
  }

  readonly #onIdentify = () => {
    if (this.#isRunning && (this.#isShort || this.#openGaps().length > 0)) this.#schedule(REACH_SETTLE_MS)
  }

  #schedule(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#init.clock.after(ms, () => {
      // The running check schedules the next one.
      if (this.#isChecking) return
      this.#isChecking = true
      void this.#keep()
        .catch((error: unknown) => this.#init.log('relays could not be checked: %s', reasonOf(error)))
        .finally(() => {
          this.#isChecking = false
          if (this.#isRunning) this.#schedule(this.#isShort ? RELAY_SEARCH_MS : RELAY_CHECK_MS)
        })
    })
  }

  get #isShort(): boolean {
    return this.relays.length < this.#init.need().relays
  }

  /** Kinds of peers that can dial neither this node nor its relays. */
  #openGaps(): Gap[] {
    const filled = this.relays.flatMap((id) => this.#held.get(id)?.fills ?? [])
    return this.#init.need().gaps.filter((gap) => !filled.includes(gap))
  }

  async #keep(): Promise<void> {
    const before = [...this.#held.keys()].join()
    await this.#fill()
    if (before !== this.relays.join()) this.#init.onChange()
  }

  async #fill(): Promise<void> {
    const held = this.relays
    for (const id of this.#held.keys()) if (!held.includes(id)) this.#held.delete(id)
    const { relays, gaps } = this.#init.need()
    if (relays === 0 && gaps.length === 0) return
    await Promise.all(held.map((id) => this.#renew(id)))
    const candidates = await this.#candidates()
    while (this.#isRunning) {
      const open = this.#openGaps()
      const index = candidates.findIndex(({ fills }) => open.some((gap) => fills.includes(gap)))
      if (index < 0 && !this.#isShort) break
      const [next] = candidates.splice(Math.max(index, 0), 1)
      if (next === undefined) break
      await this.#reserve(next)
    }
    if (this.#isShort) await this.#dialMore()
  }

  /** Public peers that relay. This node dialled them, so their addresses work. */
  async #candidates(): Promise<Candidate[]> {
    const found: Candidate[] = []
    for (const connection of this.#init.connectionManager.getConnections()) {
      const id = connection.remotePeer.toString()
      if (connection.direction !== 'outbound' || connection.status !== 'open' || isRelayed(connection)) continue
      if (
        this.#held.has(id) ||
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
    const limit = deadline(clock, DIAL_ADDRESS_MS, () => new Error('the dial timed out'))
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
    try {
      // libp2p has one listener for each relay. It announces the relay's addresses, also those of a later reservation.
      if (this.#listened.has(id)) await this.#reservations()?.addRelay(remotePeer, 'configured')
      else await this.#init.transportManager.listen([connection.remoteAddr.encapsulate('/p2p-circuit')])
      this.#listened.add(id)
      this.#held.set(id, { peer: remotePeer, renewedAt: this.#init.clock.elapsed(), fills, missed: 0 })
      this.#init.log('%s relays for this node', id)
      this.#init.onChange()
    } catch (error) {
      this.#pause(this.#failed, id, error)
    }
  }

  /** A relay that refuses the reservation, or no longer responds, is left, so that its address is withdrawn. */
  async #renew(id: string): Promise<void> {
    const { connectionManager, clock, log } = this.#init
    const held = this.#held.get(id)
    const connection = connectionManager
      .getConnections()
      .find((each) => each.remotePeer.toString() === id && each.status === 'open' && !isRelayed(each))
    // Searches for further relays run more often than renewals.
    if (held === undefined || connection === undefined || clock.elapsed() - held.renewedAt < RELAY_CHECK_MS) return
    held.renewedAt = clock.elapsed()
    const limit = deadline(clock, RELAY_RESERVE_MS, () => new Error('the relay did not respond in time'))
    try {
      await renewReservation(connection, limit.signal)
      held.missed = 0
    } catch (error) {
      held.missed++
      if (!(error instanceof ReservationRefusedError) && held.missed < RELAY_RENEWALS_MISSED_MAX) {
        log('%s did not renew the reservation: %s', id, reasonOf(error))
        return
      }
      this.#pause(this.#failed, id, error)
      connection.abort(new Error('the relay ended the reservation', { cause: error }))
    } finally {
      limit.clear()
    }
  }

  #isPaused(until: RecentMap<string, number>, id: string): boolean {
    return (until.get(id) ?? 0) > this.#init.clock.elapsed()
  }

  #pause(until: RecentMap<string, number>, id: string, error: unknown): void {
    until.set(id, this.#init.clock.elapsed() + RELAY_RETRY_MS)
    this.#init.log('%s does not relay for this node: %s', id, reasonOf(error))
  }

  /** Undefined in a libp2p node without the relay transport. */
  #reservations(): Reservations | undefined {
    const transports = this.#init.transportManager.getTransports()
    const found = transports.find((transport) => 'reservationStore' in transport)
    return (found as { readonly reservationStore?: Reservations } | undefined)?.reservationStore
  }
}

const idIn = (address: string): string | undefined => /\/p2p\/([^/]+)$/.exec(address)?.[1]
