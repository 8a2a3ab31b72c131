import type {
  ComponentLogger,
  Connection,
  Listener,
  ListenerEvents,
  PeerId,
  Transport,
  Upgrader
} from '@libp2p/interface'
import { transportSymbol } from '@libp2p/interface'
import { AbstractMultiaddrConnection, type AbstractMultiaddrConnectionInit } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { Uint8ArrayList } from 'uint8arraylist'

/** Time of a packet from one machine to another. */
const LATENCY_MS = 20

interface Components {
  readonly peerId: PeerId
  readonly upgrader: Upgrader
  readonly logger: ComponentLogger
}

/** Bytes between simulated machines. Each has an address of its own, and can lose its power. */
export class Wire {
  readonly #listeners = new Map<string, WireListener>()
  readonly #dead = new Set<string>()
  connections = 0
  bytes = 0

  /** A libp2p transport of the machine at this address. */
  transport(host: string): (components: Components) => Transport {
    return (components) => new WireTransport(this, host, components)
  }

  /** The machine is off: it sends nothing, and packets to it get no response. */
  powerOff(host: string): void {
    this.#dead.add(host)
  }

  isDead(host: string): boolean {
    return this.#dead.has(host)
  }

  listen(host: string, listener: WireListener | undefined): void {
    if (listener === undefined) this.#listeners.delete(host)
    else this.#listeners.set(host, listener)
  }

  listenerAt(host: string): WireListener | undefined {
    return this.#listeners.get(host)
  }
}

const hostOf = (address: Multiaddr): string => address.getComponents()[0]?.value ?? ''
const peerOf = (address: Multiaddr): string | undefined =>
  address.getComponents().findLast(({ name }) => name === 'p2p')?.value

/** All bytes that a machine writes to one connection at the same moment. */
interface Packet {
  readonly sentAt: number
  readonly bytes: Uint8ArrayList
}

class WireConnection extends AbstractMultiaddrConnection {
  other: WireConnection | undefined
  #last: Packet | undefined
  readonly #wire: Wire
  readonly #host: string

  constructor(wire: Wire, host: string, init: Omit<AbstractMultiaddrConnectionInit, 'stream'>) {
    super(init)
    this.#wire = wire
    this.#host = host
  }

  sendData(data: Uint8ArrayList): { sentBytes: number; canSendMore: boolean } {
    const bytes = data.subarray()
    this.#wire.bytes += bytes.byteLength
    const sentAt = performance.now()
    if (this.#last?.sentAt === sentAt) this.#last.bytes.append(bytes)
    else {
      const packet = { sentAt, bytes: new Uint8ArrayList(bytes) }
      this.#last = packet
      this.#pass((other) => other.onData(packet.bytes))
    }
    return { sentBytes: bytes.byteLength, canSendMore: true }
  }

  sendReset(): void {
    this.#pass((other) => other.onRemoteReset())
  }

  sendClose(): Promise<void> {
    this.#pass((other) => other.onTransportClosed())
    return Promise.resolve()
  }

  sendPause(): void {}
  sendResume(): void {}

  #pass(give: (other: WireConnection) => void): void {
    const { other } = this
    if (other === undefined) return
    setTimeout(() => {
      const isLost = this.#wire.isDead(this.#host) || this.#wire.isDead(other.#host)
      if (!isLost && other.status === 'open') give(other)
    }, LATENCY_MS)
  }
}

class WireTransport implements Transport {
  readonly [transportSymbol] = true as const
  readonly [Symbol.toStringTag] = 'wire'
  readonly #wire: Wire
  readonly #host: string
  readonly #components: Components

  constructor(wire: Wire, host: string, components: Components) {
    this.#wire = wire
    this.#host = host
    this.#components = components
  }

  async dial(address: Multiaddr, options: Parameters<Transport['dial']>[1]): Promise<Connection> {
    const [wire, host] = [this.#wire, hostOf(address)]
    options.signal.throwIfAborted()
    await arrive(wire.isDead(host) ? Infinity : 2 * LATENCY_MS, options.signal)
    const listener = wire.listenerAt(host)
    if (listener === undefined || wire.isDead(host)) throw new Error(`connection refused by ${host}`)
    // The encrypted handshake would prove it.
    if (peerOf(address) !== undefined && peerOf(address) !== listener.peerId.toString())
      throw new Error('another peer is at this address')
    wire.connections++
    const log = this.#components.logger.forComponent('wire')
    const away = multiaddr(`/ip4/${this.#host}/tcp/${40_000 + (wire.connections % 20_000)}`)
    const out = new WireConnection(wire, this.#host, { remoteAddr: address, direction: 'outbound', log })
    const inn = new WireConnection(wire, host, { remoteAddr: away, direction: 'inbound', log })
    out.other = inn
    inn.other = out
    listener.accept(inn, this.#components.peerId)
    // Keys and ciphers cost real time and change nothing here.
    const trusted = { skipEncryption: true, skipProtection: true, remotePeer: listener.peerId } as const
    try {
      return await options.upgrader.upgradeOutbound(out, { ...options, ...trusted })
    } catch (error) {
      out.abort(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  createListener(options: Parameters<Transport['createListener']>[0]): Listener {
    return new WireListener(this.#wire, this.#host, this.#components.peerId, options.upgrader)
  }

  listenFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter((address) => /^\/ip4\/[^/]+\/tcp\/\d+(\/p2p\/[^/]+)?$/.test(address.toString()))
  }

  dialFilter(addresses: Multiaddr[]): Multiaddr[] {
    return this.listenFilter(addresses)
  }
}

class WireListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly peerId: PeerId
  readonly #wire: Wire
  readonly #host: string
  readonly #upgrader: Upgrader
  #addresses: Multiaddr[] = []
  readonly #open = new Set<WireConnection>()

  constructor(wire: Wire, host: string, peerId: PeerId, upgrader: Upgrader) {
    super()
    this.peerId = peerId
    this.#wire = wire
    this.#host = host
    this.#upgrader = upgrader
  }

  accept(connection: WireConnection, remotePeer: PeerId): void {
    this.#open.add(connection)
    connection.addEventListener('close', () => void this.#open.delete(connection))
    this.#upgrader
      .upgradeInbound(connection, {
        skipEncryption: true,
        skipProtection: true,
        remotePeer,
        signal: new AbortController().signal
      })
      .catch((error: unknown) => connection.abort(error instanceof Error ? error : new Error(String(error))))
  }

  async listen(address: Multiaddr): Promise<void> {
    this.#addresses = [address]
    this.#wire.listen(this.#host, this)
    this.safeDispatchEvent('listening')
  }

  getAddrs(): Multiaddr[] {
    return this.#addresses
  }

  updateAnnounceAddrs(): void {}

  async close(): Promise<void> {
    this.#wire.listen(this.#host, undefined)
    for (const connection of this.#open) connection.abort(new Error('the listener was closed'))
    this.safeDispatchEvent('close')
  }
}

function arrive(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (Number.isFinite(ms)) setTimeout(resolve, ms)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
