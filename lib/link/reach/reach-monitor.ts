import type { Connection, IdentifyResult, Libp2pEvents, Logger, PeerStore } from '@libp2p/interface'
import type { AddressManager, ConnectionManager } from '@libp2p/interface-internal'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import type { Clock } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import {
  DIAL_BACK_ADDRESS_CHARS_MAX,
  DIAL_BACK_ADDRESSES_MAX,
  DIAL_BACK_PORTS_MAX,
  REACH_ASKED_MAX,
  REACH_CHECK_MS,
  REACH_CONFIRMATIONS_MIN,
  REACH_MOVED_MS,
  REACH_SETTLE_MS
} from '../../base/limits/reach.ts'
import type { MappedPort } from '../../interface/port-mapping.ts'
import type { Reachability } from '../../interface/reachability.ts'
import { hostOf } from '../host-of.ts'
import { transportAddresses } from '../interface-addresses.ts'
import { isNotPublic } from '../public-addresses.ts'
import { RepeatedCheck } from '../repeated-check.ts'
import { DIAL_BACK_PROTOCOL, type DialBack, isIpAndPort } from './dial-back.ts'
import { isCircuit, isRelayed } from './is-relayed.ts'

export interface ReachMonitorInit {
  readonly addressManager: AddressManager
  readonly connectionManager: ConnectionManager
  readonly peerStore: PeerStore
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly dialBack: DialBack
  /** Peer ids of the network's bootstrap nodes. */
  readonly bootstrap: ReadonlySet<string>
  readonly privateAddresses: boolean
  readonly relays: () => readonly string[]
  /** A port that the router forwards to this node. */
  readonly mapped: () => MappedPort | undefined
  /** Called after each check. */
  readonly onChecked: () => void
  readonly clock: Clock
  readonly log: Logger
}

/** The result of one peer's dials. Addresses have no peer id. */
interface Verdict {
  readonly at: number
  /** The peer's host, or its id where a host is no single machine. */
  readonly voter: string
  readonly dialled: readonly string[]
  readonly reached: readonly string[]
}

/**
 * Learns how peers reach this node, by asking some of them to dial back. An address that is not of an interface (a
 * router forwards its port here) is announced after a bootstrap peer reached it, or peers of two hosts.
 */
export class ReachMonitor {
  readonly #init: ReachMonitorInit
  /** The last verdicts by peer id, oldest first. */
  readonly #verdicts = new Map<string, Verdict>()
  /** Addresses that this monitor announces. */
  readonly #announced = new Set<string>()
  readonly #checks: RepeatedCheck
  #known = ''

  constructor(init: ReachMonitorInit) {
    this.#init = init
    const { clock, log } = init
    this.#checks = new RepeatedCheck({
      check: (signal) => this.#check(signal),
      pauseMs: () => REACH_CHECK_MS,
      clock,
      log
    })
  }

  start(): void {
    this.#init.events.addEventListener('peer:identify', this.#onIdentify)
    this.#init.events.addEventListener('transport:listening', this.#onChange)
    this.#checks.start(REACH_SETTLE_MS)
  }

  stop(): void {
    this.#checks.stop()
    this.#init.events.removeEventListener('peer:identify', this.#onIdentify)
    this.#init.events.removeEventListener('transport:listening', this.#onChange)
  }

  /** No peer can dial this node, or a bootstrap peer cannot: peers in the same private network may be able to. */
  get needsRelay(): boolean {
    const { state } = this.status()
    if (state === 'relayed' || state === 'none') return true
    const failed = this.#fresh().filter(([peer, { reached }]) => this.#init.bootstrap.has(peer) && reached.length === 0)
    return failed.length > 0
  }

  status(): Reachability {
    const { addressManager, privateAddresses, relays } = this.#init
    const announced = addressManager.getAddresses().map(withoutPeer)
    const direct = announced.filter((address) => !isCircuit(address))
    const open = direct.filter((address) => !isNotPublic(address))
    const fresh = this.#fresh()
    const reached = fresh.flatMap(([, verdict]) => verdict.reached)
    // A peer that cannot dial this port, or lies, does not outweigh a peer that did.
    const isRefuted = fresh.length > 0 && reached.length === 0 && !this.#hasVisitor
    const held = relays()
    const [port] = this.#listeningPorts()
    const as = (state: Reachability['state'], addresses: readonly Multiaddr[]): Reachability => ({
      state,
      addresses: addresses.map(String),
      isConfirmed: reached.some((address) => this.#isConfirmed(address)),
      relays: held,
      port,
      isOffline: port === undefined && addressManager.getListenAddrs().some(isWildcard),
      mapped: this.#init.mapped(),
      asked: fresh.length
    })
    if (open.length > 0 && !isRefuted) return as('direct', open)
    if (privateAddresses && direct.length > 0 && !isRefuted) return as('private', direct)
    if (held.length > 0) return as('relayed', announced.filter(isCircuit))
    return as('none', direct.length > 0 ? direct : transportAddresses(addressManager).map(withoutPeer))
  }

  /** A peer of the Internet is connected that dialled this node. */
  get #hasVisitor(): boolean {
    const connections = this.#init.connectionManager.getConnections()
    const arrived = connections.filter((each) => each.direction === 'inbound' && each.status === 'open')
    return arrived.some((each) => !isRelayed(each) && !isNotPublic(each.remoteAddr))
  }

  /** The port of the router changed, so earlier verdicts say nothing, even if its number is the same. */
  wake(): void {
    this.#verdicts.clear()
    this.#onChange()
  }

  /** A peer that sees this node at another address than it dialled is asked again: perhaps the router has a new one. */
  readonly #onIdentify = ({ detail: { peerId, connection, observedAddr } }: CustomEvent<IdentifyResult>) => {
    const id = peerId.toString()
    const verdict = this.#verdicts.get(id)
    const isOld = verdict !== undefined && this.#init.clock.elapsed() - verdict.at >= REACH_MOVED_MS
    if (isOld && observedAddr !== undefined && connection.direction === 'outbound' && !isRelayed(connection)) {
      const host = hostOf(observedAddr)?.key
      const dialled = verdict.dialled.map((address) => hostOf(multiaddr(address))?.key)
      if (!dialled.includes(host)) {
        this.#verdicts.delete(id)
        this.#checks.again()
      }
    }
    this.#onChange()
  }

  readonly #onChange = () => {
    const asked = [...this.#ports(), ...this.#otherAddresses()].join()
    const areNew = asked !== this.#known
    this.#known = asked
    if (areNew) this.#verdicts.clear()
    if (areNew || this.#fresh().length < REACH_ASKED_MAX) this.#checks.again()
  }

  async #check(signal: AbortSignal): Promise<void> {
    const ports = this.#ports().slice(0, DIAL_BACK_PORTS_MAX)
    const addresses = this.#otherAddresses()
    if (ports.length + addresses.length === 0) return
    const { clock, dialBack, log } = this.#init
    const known = this.#known
    const peers = await this.#peers()
    await Promise.all(
      peers.map(async ([id, voter]) => {
        try {
          const asked = { ports, addresses }
          const { dialled, reached } = await dialBack.ask({ id, addresses: [] }, asked, signal)
          this.#verdicts.delete(id)
          // A verdict on earlier ports would delay the next one.
          if (dialled.length > 0 && known === this.#known)
            this.#verdicts.set(id, { at: clock.elapsed(), voter, dialled, reached })
          log('%s dialled %s and reached %s', id, dialled.join(' '), reached.join(' ') || 'none of them')
        } catch (error) {
          log('%s did not dial back: %s', id, reasonOf(error))
        }
      })
    )
    if (signal.aborted) return
    this.#announce()
    this.#init.onChecked()
  }

  /** One peer of each voter: bootstrap peers first, then those asked longest ago. */
  async #peers(): Promise<Array<[id: string, voter: string]>> {
    const { connectionManager, peerStore, bootstrap, clock } = this.#init
    const found = new Map<string, string>()
    for (const connection of connectionManager.getConnections()) {
      if (connection.status !== 'open' || isRelayed(connection)) continue
      const { protocols = [] } = (await peerStore.get(connection.remotePeer).catch(() => undefined)) ?? {}
      if (protocols.includes(DIAL_BACK_PROTOCOL)) found.set(connection.remotePeer.toString(), this.#voterOf(connection))
    }
    const rank = (id: string) => (bootstrap.has(id) ? -clock.elapsed() : 0) + (this.#verdicts.get(id)?.at ?? 0)
    const due = (id: string) => clock.elapsed() - (this.#verdicts.get(id)?.at ?? -REACH_CHECK_MS) >= REACH_CHECK_MS / 2
    const ranked = [...found].filter(([id]) => due(id)).toSorted(([a], [b]) => rank(a) - rank(b))
    const perVoter = Map.groupBy(ranked, ([, voter]) => voter)
    return [...perVoter.values()].flatMap(([first]) => (first === undefined ? [] : [first])).slice(0, REACH_ASKED_MAX)
  }

  /** All peers of one host are one voter, because keys cost nothing. In a private network, many machines may share an address. */
  #voterOf({ remotePeer, remoteAddr }: Connection): string {
    const host = hostOf(remoteAddr)
    if (host === undefined || (host.isPrivate && this.#init.privateAddresses)) return remotePeer.toString()
    return host.site ?? host.key
  }

  #announce(): void {
    const { addressManager, privateAddresses } = this.#init
    const listened = transportAddresses(addressManager).map((address) => withoutPeer(address).toString())
    const own = new Set([...listened, ...this.#otherAddresses()])
    const seen = this.#fresh().flatMap(([, { dialled }]) => dialled)
    if (seen.length === 0) return
    const others = [...new Set([...seen, ...this.#announced])].filter(
      (text) => !own.has(text) && (privateAddresses || !isNotPublic(multiaddr(text)))
    )
    // Nobody sees the earlier address of a router any more.
    for (const text of others)
      if (!this.#isConfirmed(text) && this.#announced.delete(text)) addressManager.removeObservedAddr(multiaddr(text))
    // libp2p drops a forwarded address with another port of its host, and with one of this machine's interfaces.
    const announced = new Set(addressManager.getAddresses().map((address) => withoutPeer(address).toString()))
    for (const text of others) {
      if (!this.#isConfirmed(text)) continue
      this.#announced.add(text)
      if (announced.has(text)) continue
      addressManager.addObservedAddr(multiaddr(text))
      addressManager.confirmObservedAddr(multiaddr(text), { type: 'observed' })
    }
  }

  #isConfirmed(address: string): boolean {
    const reached = this.#fresh().filter(([, verdict]) => verdict.reached.includes(address))
    const voters = new Set(reached.map(([, { voter }]) => voter))
    return voters.size >= REACH_CONFIRMATIONS_MIN || reached.some(([peer]) => this.#init.bootstrap.has(peer))
  }

  #fresh(): Array<[string, Verdict]> {
    const since = this.#init.clock.elapsed() - 3 * REACH_CHECK_MS
    for (const [peer, { at }] of this.#verdicts) if (at < since) this.#verdicts.delete(peer)
    return [...this.#verdicts]
  }

  /** The ports at which peers may reach this node. */
  #ports(): number[] {
    const mapped = this.#init.mapped()
    return [...new Set([...(mapped === undefined ? [] : [mapped.port]), ...this.#listeningPorts()])]
  }

  /** Announced addresses that are more than an IP address and a TCP port: WebSockets and DNS names. */
  #otherAddresses(): string[] {
    const announced = this.#init.addressManager.getAddresses().map(withoutPeer)
    const others = announced.filter((address) => !isCircuit(address) && !isIpAndPort(address)).map(String)
    return others.filter(({ length }) => length <= DIAL_BACK_ADDRESS_CHARS_MAX).slice(0, DIAL_BACK_ADDRESSES_MAX)
  }

  #listeningPorts(): number[] {
    const { addressManager } = this.#init
    // A router may forward an announced port to a listening one.
    const addresses = [...transportAddresses(addressManager), ...addressManager.getAddresses()]
    const ports = addresses.flatMap((address) => {
      const [host, tcp, ...rest] = address.getComponents()
      const isLoopback = /^127\.|^::1$/.test(host?.value ?? '')
      const isPlain = tcp?.name === 'tcp' && rest.every(({ name }) => name === 'p2p')
      return isPlain && !isLoopback ? [Number(tcp.value)] : []
    })
    return [...new Set(ports)]
  }
}

/** All interfaces of this machine. */
const isWildcard = (address: Multiaddr): boolean => /^\/(?:ip4\/0\.0\.0\.0|ip6\/::)\//.test(address.toString())

function withoutPeer(address: Multiaddr): Multiaddr {
  const last = address.getComponents().at(-1)
  return last?.name === 'p2p' ? address.decapsulate(`/p2p/${last.value}`) : address
}
