import type { Connection, Logger } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { type Clock, deadline } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import { SoukError } from '../../base/errors.ts'
import { DIAL_ADDRESS_MS } from '../../base/limits/link.ts'
import {
  DIAL_BACK_ADDRESS_CHARS_MAX,
  DIAL_BACK_ADDRESSES_MAX,
  DIAL_BACK_BURST,
  DIAL_BACK_BYTES_MAX,
  DIAL_BACK_MS,
  DIAL_BACK_PEERS_MAX,
  DIAL_BACK_REFILL_MS,
  DIAL_BACKS_AT_ONCE
} from '../../base/limits/reach.ts'
import { TokenBuckets } from '../../base/token-bucket.ts'
import type { Link, PeerAddress } from '../../interface/link.ts'
import { parsedAddress } from '../parsed-address.ts'
import { isNotPublic } from '../public-addresses.ts'
import { closeUnused } from './close-unused.ts'
import {
  DIAL_BACK_REQUEST,
  DIAL_BACK_RESPONSE,
  type DialBackRequest,
  type DialBackResponse
} from './dial-back-codec.ts'
import { onConnected } from './dial-progress.ts'
import { isRelayed } from './is-relayed.ts'

/** Peers announce by identify whether they have it. */
export const DIAL_BACK_PROTOCOL = '/souk/dial-back/1.0.0'

export interface DialBackInit {
  readonly link: Link
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly network: string
  /** The network uses private addresses, so they may be dialled. */
  readonly privateAddresses: boolean
  readonly clock: Clock
  readonly log: Logger
}

/**
 * `/souk/dial-back/1.0.0`. A peer asks to be dialled, for one of two reasons:
 * - to learn whether its addresses work. The IP address is the one from which it asks, so a peer cannot make this node
 *   dial others. A DNS name is dialled as the peer says, because a web server in front of the peer may have another
 *   address;
 * - to get a direct connection where it came through a relay, and this node can dial but cannot be dialled. The relay
 *   hides the peer's address, so the addresses are as the peer says.
 *
 * Number and rate of the dials are limited.
 */
export class DialBack {
  readonly #init: DialBackInit
  readonly #requests: TokenBuckets
  #running = 0

  constructor(init: DialBackInit) {
    this.#init = init
    const rate = { burst: DIAL_BACK_BURST, perSecond: 1_000 / DIAL_BACK_REFILL_MS }
    this.#requests = new TokenBuckets(rate, DIAL_BACK_PEERS_MAX, init.clock)
  }

  /** Call it before the link starts. */
  serve(): void {
    this.#init.link.serve(DIAL_BACK_PROTOCOL, (bytes, peer) => this.#answer(bytes, peer), {
      requestBytesMax: DIAL_BACK_BYTES_MAX
    })
  }

  /** Returns only addresses that the request asked about. @throws SoukError `owner_unreachable`, also for a peer without this protocol */
  async ask(
    peer: PeerAddress,
    request: Pick<DialBackRequest, 'ports' | 'addresses'>,
    signal: AbortSignal
  ): Promise<DialBackResponse> {
    const bytes = DIAL_BACK_REQUEST.encode({ network: this.#init.network, ...request })
    const options = { responseBytesMax: DIAL_BACK_BYTES_MAX, timeoutMs: DIAL_BACK_MS, signal }
    const response = DIAL_BACK_RESPONSE.decode(await this.#init.link.exchange(peer, DIAL_BACK_PROTOCOL, bytes, options))
    const dialled = response.dialled.filter((text) => isAsked(text, request)).slice(0, 2 * DIAL_BACK_ADDRESSES_MAX)
    return { dialled, reached: response.reached.filter((text) => dialled.includes(text)) }
  }

  async #answer(bytes: Uint8Array, peer: string): Promise<Uint8Array> {
    const request = DIAL_BACK_REQUEST.decode(bytes)
    if (request.network !== this.#init.network) throw new SoukError('invalid_request')
    if (!this.#requests.take(peer) || this.#running >= DIAL_BACKS_AT_ONCE) throw new SoukError('overloaded')
    const connections = this.#init.connectionManager
      .getConnections()
      .filter((each) => each.remotePeer.toString() === peer && each.status === 'open')
    const direct = connections.filter((connection) => !isRelayed(connection))
    const told = this.#dialable(request.addresses)
    const addresses =
      direct.length === 0
        ? told
        : [...this.#dialable(seenAt(direct, request.ports)), ...told.filter((address) => isAtOrNamed(address, direct))]
    this.#running++
    try {
      // A check ends with the connection. A direct connection that replaces a relayed one stays.
      const results = await Promise.all(
        addresses.map(async (address) => ((await this.#reaches(address, peer, direct)) ? [address] : []))
      )
      return DIAL_BACK_RESPONSE.encode({ dialled: addresses.map(String), reached: results.flat().map(String) })
    } finally {
      this.#running--
    }
  }

  #dialable(texts: readonly string[]): Multiaddr[] {
    return [...new Set(texts)].slice(0, DIAL_BACK_ADDRESSES_MAX).flatMap((text) => this.#parsed(text))
  }

  #parsed(text: string): Multiaddr[] {
    if (text.length > DIAL_BACK_ADDRESS_CHARS_MAX) return []
    try {
      const address = multiaddr(text)
      const [host, ...rest] = address.getComponents()
      // Without `/p2p-circuit`, which would name another peer.
      const isOfHost = HOST.test(host?.name ?? '') && rest.every(({ name }) => !name.startsWith('p2p'))
      const canDial = isOfHost && this.#init.transportManager.dialTransportForMultiaddr(address) !== undefined
      return canDial && (this.#init.privateAddresses || !isNotPublic(address)) ? [address] : []
    } catch {
      return []
    }
  }

  async #reaches(address: Multiaddr, peer: string, direct: readonly Connection[]): Promise<boolean> {
    const { clock, transportManager, log } = this.#init
    const limit = deadline(clock, DIAL_ADDRESS_MS, () => new Error('the dial timed out'))
    const onProgress = onConnected(() => limit.restart(DIAL_ADDRESS_MS))
    try {
      // Not by the connection manager, which would return the connection that already exists.
      const connection = await transportManager.dial(address.encapsulate(`/p2p/${peer}`), {
        signal: limit.signal,
        onProgress
      })
      if (direct.length > 0) closeUnused(connection, direct, clock)
      return true
    } catch (error) {
      log('%s was not reached at %s: %s', peer, address.toString(), reasonOf(error))
      return false
    } finally {
      limit.clear()
    }
  }
}

/** An address of the request, or any IP address with one of its ports: only the peer knows at which one it sees this node. */
function isAsked(text: string, { ports, addresses }: Pick<DialBackRequest, 'ports' | 'addresses'>): boolean {
  if (addresses.includes(text)) return true
  const address = parsedAddress(text)
  return address !== undefined && isIpAndPort(address) && ports.includes(Number(address.getComponents()[1]?.value))
}

export function isIpAndPort(address: Multiaddr): boolean {
  const [host, tcp, ...rest] = address.getComponents()
  return /^ip[46]$/.test(host?.name ?? '') && tcp?.name === 'tcp' && rest.length === 0
}

/** The first part of an address that may be dialled. Transports refuse names of private addresses on public networks. */
const HOST = /^(ip|dns)[46]?$/

/** Whether an address has the IP address from which a peer's connections came, or a DNS name: a web server may have another. */
function isAtOrNamed(address: Multiaddr, connections: readonly Connection[]): boolean {
  const [host] = address.getComponents()
  return (
    host?.name.startsWith('dns') === true ||
    connections.some((each) => each.remoteAddr.getComponents()[0]?.value === host?.value)
  )
}

/** The addresses from which a peer's connections came, with other ports. */
function seenAt(connections: readonly Connection[], ports: readonly number[]): string[] {
  return connections.flatMap(({ remoteAddr }) => {
    const [host] = remoteAddr.getComponents()
    if (host?.value === undefined || !/^ip[46]$/.test(host.name)) return []
    return ports.filter((port) => port > 0 && port < 65_536).map((port) => `/${host.name}/${host.value}/tcp/${port}`)
  })
}
