import type {
  AbortOptions,
  ComponentLogger,
  Connection,
  Libp2pEvents,
  Logger,
  PeerId,
  PeerStore,
  Stream
} from '@libp2p/interface'
import type { ConnectionManager, Registrar, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import { pEvent } from 'p-event'
import type { Uint8ArrayList } from 'uint8arraylist'
import { afterLimit, type Clock, type Deadline, deadline, type Timer } from '../base/clock.ts'
import { inMs, logOf, reasonOf } from '../base/component-log.ts'
import { isSoukError, SoukError } from '../base/errors.ts'
import {
  BULK_OPEN_MS,
  BULK_STREAMS_PER_PEER_MAX,
  CONTROL_STREAMS_PER_PEER_MAX,
  EXCHANGE_MS,
  EXCHANGE_MS_MAX,
  HEARTBEAT_ANSWER_MS,
  HELLO_MS,
  LINK_CLOSE_MS,
  SILENCE_CHECK_MS
} from '../base/limits/link.ts'
import { SingleFlight } from '../base/single-flight.ts'
import { unreachable } from '../base/unreachable.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import { within } from '../base/within.ts'
import type {
  BulkSink,
  BulkSource,
  Channel,
  ExchangeHandler,
  ExchangeOptions,
  Link,
  PeerAddress,
  ServeOptions
} from '../interface/link.ts'
import { BULK_PROTOCOL, bulkSink } from './bulk-sink.ts'
import { probeConnection } from './probe-connection.ts'
import { dialPeer } from './reach/dial-peer.ts'
import { onConnected } from './reach/dial-progress.ts'
import { dialStep } from './reach/dial-step.ts'
import { isRelayed } from './reach/is-relayed.ts'
import { CALL_PROTOCOL, StreamChannel } from './stream-channel.ts'
import { StreamSource } from './stream-source.ts'
import { UnreadBodies } from './unread-bodies.ts'
import { whilePassing } from './while-passing.ts'

/** The parts of a libp2p node that this link uses. */
export interface LinkComponents {
  readonly peerId: PeerId
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly registrar: Registrar
  readonly peerStore: PeerStore
  readonly logger: ComponentLogger
  readonly events: TypedEventTarget<Libp2pEvents>
}

interface ServedExchange extends ServeOptions {
  readonly handler: ExchangeHandler
}

/** The link over a libp2p node. */
export class Libp2pLink implements Link {
  readonly self: string
  onChannel: (channel: Channel) => void = () => {}
  onBulk: (peer: string, tag: Uint8Array, source: BulkSource) => void = (_peer, _tag, source) => {
    source.abort(new Error('this node does not read bulk streams'))
  }
  /** Called when this node opened a channel through a relay. */
  onRelayed: (channel: Channel) => void = () => {}
  readonly #components: LinkComponents
  readonly #clock: Clock
  readonly #log: Logger
  readonly #unread: UnreadBodies
  /** Every open channel. A peer has several if both sides opened one at the same time. */
  readonly #channels = new Set<StreamChannel>()
  /** The channel to use per peer: the newest. */
  readonly #byPeer = new Map<string, Channel>()
  #isRunning = false
  #silenceCheck: Timer | undefined
  readonly #opening = new SingleFlight<string, Channel>()
  readonly #exchanges = new Map<string, ServedExchange>()

  constructor(components: LinkComponents, clock: Clock, unread = new UnreadBodies(clock)) {
    this.self = components.peerId.toString()
    this.#components = components
    this.#clock = clock
    this.#unread = unread
    this.#log = logOf(components.logger, 'souk:link')
  }

  async start(): Promise<void> {
    const { registrar } = this.#components
    this.#isRunning = true
    this.#watchSilence()
    this.#components.events.addEventListener('connection:open', this.#onConnection)
    await registrar.handle(CALL_PROTOCOL, (stream, connection) => void this.#adopt(stream, connection), {
      maxInboundStreams: CONTROL_STREAMS_PER_PEER_MAX,
      maxOutboundStreams: CONTROL_STREAMS_PER_PEER_MAX,
      runOnLimitedConnection: true
    })
    await registrar.handle(BULK_PROTOCOL, (stream, connection) => this.#onBulkStream(stream, connection), {
      maxInboundStreams: BULK_STREAMS_PER_PEER_MAX,
      maxOutboundStreams: BULK_STREAMS_PER_PEER_MAX,
      runOnLimitedConnection: true
    })
    for (const [protocol, exchange] of this.#exchanges) {
      await registrar.handle(protocol, (stream, connection) => this.#answer(stream, connection, exchange), {
        runOnLimitedConnection: true
      })
    }
  }

  async stop(): Promise<void> {
    const { registrar } = this.#components
    this.#isRunning = false
    this.#silenceCheck?.cancel()
    this.#unread.stop()
    this.#components.events.removeEventListener('connection:open', this.#onConnection)
    for (const protocol of [CALL_PROTOCOL, BULK_PROTOCOL, ...this.#exchanges.keys()]) await registrar.unhandle(protocol)
    const channels = [...this.#channels]
    const timer = this.#clock.after(LINK_CLOSE_MS, () => {
      for (const channel of channels) channel.abort(new Error('the peer did not read its queue in time'))
    })
    await Promise.all(channels.map((channel) => channel.close()))
    timer.cancel()
    // Peers close their end of a stream when they have read all of it. libp2p closes the connections next, and drops data on its way.
    await waitAtMost(this.#clock, LINK_CLOSE_MS, Promise.all(this.#streams().map(closed)))
  }

  async connect(peer: PeerAddress, signal: AbortSignal): Promise<Channel> {
    signal.throwIfAborted()
    const ready = this.#byPeer.get(peer.id)
    if (ready?.open === true) return ready
    if (!this.#isRunning) throw new SoukError('owner_unreachable', 'This node is not connected to the network.')
    // Shared by all callers that wait for this peer, so no single caller's signal may end it.
    const opening = this.#opening.run(peer.id, () => this.#open(peer))
    return within(opening, signal)
  }

  async exchange(
    peer: PeerAddress,
    protocol: string,
    request: Uint8Array,
    options: ExchangeOptions
  ): Promise<Uint8Array> {
    const { timeoutMs = EXCHANGE_MS } = options
    const limit = deadline(this.#clock, timeoutMs, () => new Error('no response in time'), options.signal)
    const endsAt = this.#clock.elapsed() + EXCHANGE_MS_MAX
    const passingMs = Math.max(timeoutMs, HEARTBEAT_ANSWER_MS)
    const onBytes = () => limit.restart(Math.min(passingMs, endsAt - this.#clock.elapsed()))
    let stopWatch: (() => void) | undefined
    let connection: Connection | undefined
    let stream: Stream | undefined
    try {
      connection = await this.#dial(peer, limit, timeoutMs)
      limit.restart(timeoutMs)
      stopWatch = whilePassing(connection, onBytes)
      stream = await connection.newStream(protocol, { signal: limit.signal, runOnLimitedConnection: true })
      const messages = lpStream(stream, { maxDataLength: options.responseBytesMax })
      await messages.write(request, { signal: limit.signal })
      const answer = await messages.read({ signal: limit.signal })
      await stream.close({ signal: limit.signal })
      this.#log.trace('%s responded by %s', peer.id, protocol)
      return answer.subarray()
    } catch (error) {
      if (this.#log.enabled) this.#log('%s did not respond by %s: %s', peer.id, protocol, reasonOf(error))
      stream?.abort(asError(error))
      options.signal.throwIfAborted()
      if (connection !== undefined && limit.signal.aborted) void probeConnection(connection, this.#clock)
      throw isSoukError(error)
        ? error
        : new SoukError('owner_unreachable', 'A node could not be queried.', { cause: error })
    } finally {
      stopWatch?.()
      limit.clear()
    }
  }

  serve(protocol: string, handler: ExchangeHandler, options: ServeOptions): void {
    this.#exchanges.set(protocol, { ...options, handler })
  }

  peers(): readonly PeerAddress[] {
    const peers = new Map<string, string[]>()
    for (const connection of this.#components.connectionManager.getConnections()) {
      const id = connection.remotePeer.toString()
      peers.set(id, [...(peers.get(id) ?? []), connection.remoteAddr.toString()])
    }
    return [...peers].map(([id, addresses]) => ({ id, addresses }))
  }

  /** Whether new calls to the peer use this channel. */
  uses(channel: Channel): boolean {
    return this.#byPeer.get(channel.peer) === channel
  }

  /** Streams of calls and their bodies. */
  #streams(): Stream[] {
    const streams = this.#components.connectionManager.getConnections().flatMap((connection) => connection.streams)
    return streams.filter(({ protocol }) => protocol === CALL_PROTOCOL || protocol === BULK_PROTOCOL)
  }

  async #open(peer: PeerAddress): Promise<Channel> {
    const startedAt = this.#clock.elapsed()
    const limit = deadline(this.#clock, HELLO_MS, () => new Error('the peer did not respond in time'))
    let connection: Connection | undefined
    try {
      connection = await this.#dial(peer, limit, HELLO_MS)
      // The peer may have opened a channel during the dial. One channel is enough for both.
      const ready = this.#byPeer.get(peer.id)
      if (ready?.open === true) return ready
      const stream = await connection.newStream(CALL_PROTOCOL, { signal: limit.signal, runOnLimitedConnection: true })
      const channel = this.#adopt(stream, connection)
      if (!this.#isRunning) channel.abort(new Error('the link was stopped'))
      return channel
    } catch (error) {
      if (this.#log.enabled) {
        const ms = inMs(this.#clock.elapsed() - startedAt)
        const known = peer.addresses.length === 0 ? 'no address given' : peer.addresses.join(' ')
        this.#log('%s was not reached in %s (%s): %s', peer.id, ms, known, reasonOf(error))
      }
      if (connection !== undefined && limit.signal.aborted) void probeConnection(connection, this.#clock)
      throw isSoukError(error) ? error : unreachable('handshake', error)
    } finally {
      limit.clear()
    }
  }

  /**
   * A peer whose address changed, or whose router restarted, leaves connections on which nothing arrives. Its calls are
   * sent again on another connection once they are aborted.
   */
  #watchSilence(): void {
    this.#silenceCheck = this.#clock.after(SILENCE_CHECK_MS, () => {
      const silent = new Set([...this.#channels].filter((channel) => channel.isSilent()).map(({ peer }) => peer))
      for (const connection of this.#components.connectionManager.getConnections())
        if (silent.has(connection.remotePeer.toString())) void probeConnection(connection, this.#clock)
      this.#watchSilence()
    })
  }

  /**
   * A direct connection to a peer on a relayed channel gets a channel, which new calls then use. A peer that connects
   * again may have lost its other connections, because its router or its address changed.
   */
  readonly #onConnection = ({ detail: connection }: CustomEvent<Connection>) => {
    const id = connection.remotePeer.toString()
    const others = this.#components.connectionManager.getConnections(connection.remotePeer)
    if (connection.direction === 'inbound')
      for (const other of others) if (other !== connection) void probeConnection(other, this.#clock)
    const channel = this.#byPeer.get(id)
    if (channel?.outbound !== true || channel.isRelayed !== true || isRelayed(connection)) return
    void this.#openOn(connection).catch((error: unknown) => this.#log('%s stays on a relay: %s', id, reasonOf(error)))
  }

  async #openOn(connection: Connection): Promise<void> {
    const limit = deadline(this.#clock, HELLO_MS, () => new Error('the peer did not respond in time'))
    try {
      const stream = await connection.newStream(CALL_PROTOCOL, { signal: limit.signal })
      this.#adopt(stream, connection)
    } finally {
      limit.clear()
    }
  }

  /**
   * @param handshakeMs the limit restarts with it when an address has connected
   * @throws SoukError `owner_unreachable`, which names the failed step
   */
  async #dial(peer: PeerAddress, limit: Deadline, handshakeMs: number): Promise<Connection> {
    const { signal } = limit
    const { connectionManager, transportManager, peerStore } = this.#components
    const peerId = peerIdFromString(peer.id)
    const open = connectionManager.getConnections(peerId).filter((connection) => connection.status === 'open')
    // A direct connection is preferred to a relayed one, which is slow and limited. A peer that connected again may have
    // lost its earlier connections.
    const connected = open.findLast((connection) => !isRelayed(connection)) ?? open.at(-1)
    if (connected !== undefined) return connected
    if (peer.addresses.length > 0) {
      await peerStore.merge(peerId, { multiaddrs: peer.addresses.map((address) => multiaddr(address)) }, { signal })
    }
    const known = await peerStore.get(peerId, { signal }).catch(() => undefined)
    const addresses = known?.addresses.map(({ multiaddr }) => multiaddr) ?? []
    const parts = { connectionManager, transportManager, peerStore, clock: this.#clock }
    try {
      const onProgress = onConnected(() => limit.restart(handshakeMs))
      return await dialPeer(parts, peerId, addresses, { signal, onProgress })
    } catch (error) {
      throw unreachable(dialStep(error, addresses), error)
    }
  }

  #adopt(stream: Stream, connection: Connection): StreamChannel {
    const channel = new StreamChannel(stream, connection, this.#clock, (on, tag, signal) =>
      this.#openBulk(on, tag, signal)
    )
    this.#channels.add(channel)
    this.#byPeer.set(channel.peer, channel)
    const way = channel.outbound ? 'dialled' : 'accepted'
    if (this.#log.enabled) this.#log('%s %s at %s', way, channel.peer, connection.remoteAddr.toString())
    this.onChannel(channel)
    if (channel.outbound && channel.isRelayed) this.onRelayed(channel)
    const { onClose } = channel
    channel.onClose = (error) => {
      this.#channels.delete(channel)
      if (this.#byPeer.get(channel.peer) === channel) this.#byPeer.delete(channel.peer)
      if (this.#log.enabled) this.#log('closed %s: %s', channel.peer, error?.message ?? 'either side ended it')
      onClose(error)
    }
    return channel
  }

  async #openBulk(connection: Connection, tag: Uint8Array, signal: AbortSignal): Promise<BulkSink> {
    // libp2p's own timeout applies only without a signal.
    const limit = deadline(this.#clock, BULK_OPEN_MS, () => new Error('the stream did not open in time'), signal)
    try {
      const stream = await connection.newStream(BULK_PROTOCOL, { signal: limit.signal, runOnLimitedConnection: true })
      return bulkSink(stream, tag)
    } finally {
      limit.clear()
    }
  }

  async #onBulkStream(stream: Stream, connection: Connection): Promise<void> {
    const source = new StreamSource(stream, connection.remotePeer.toString(), this.#unread)
    const timer = afterLimit(this.#clock, BULK_OPEN_MS, () => source.abort(new Error('no tag arrived in time')))
    try {
      this.onBulk(source.peer, await source.tag, source)
    } catch (error) {
      this.#log('a bulk stream of %p was aborted: %s', connection.remotePeer, reasonOf(error))
      stream.abort(asError(error))
    } finally {
      timer.cancel()
    }
  }

  async #answer(stream: Stream, connection: Connection, served: ServedExchange) {
    const { handler, requestBytesMax } = served
    const limit = deadline(this.#clock, EXCHANGE_MS_MAX, () => new Error('the exchange timed out'))
    try {
      const messages = lpStream(stream, { maxDataLength: requestBytesMax })
      const request: Uint8ArrayList = await messages.read({ signal: limit.signal })
      const answer = await handler(request.subarray(), connection.remotePeer.toString())
      const options: AbortOptions = { signal: limit.signal }
      await messages.write(answer, options)
      await stream.close(options)
    } catch (error) {
      this.#log('a request of %p failed: %s', connection.remotePeer, reasonOf(error))
      stream.abort(asError(error))
    } finally {
      limit.clear()
    }
  }
}

/** Resolves when both ends of the stream are closed, or it broke. */
async function closed(stream: Stream): Promise<void> {
  if (stream.status === 'open' || stream.status === 'closing') await pEvent(stream, 'close')
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('not an error', { cause: error })
}
