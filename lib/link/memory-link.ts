import { type Clock, deadline, systemClock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { EXCHANGE_MS } from '../base/limits/link.ts'
import { within } from '../base/within.ts'
import type {
  BulkSink,
  BulkSource,
  Channel,
  ExchangeHandler,
  ExchangeOptions,
  Link,
  PeerAddress
} from '../interface/link.ts'
import { type BulkPipe, bulkPipe } from './memory-bulk.ts'
import { MemoryChannel } from './memory-channel.ts'

/** An in-process network for tests and the simulator: links without sockets that can be cut. */
export interface MemoryNetwork {
  /** Creates a link, not started. */
  link(peerId: string): Link
  /** Breaks everything open with a peer. The peer is unreachable until `mend`. */
  cut(peerId: string): void
  mend(peerId: string): void
}

export function createMemoryNetwork({ clock = systemClock }: { readonly clock?: Clock } = {}): MemoryNetwork {
  const hub: Hub = { clock, links: new Map(), unreachable: new Set() }
  return {
    link(peerId) {
      const link = new MemoryLink(peerId, hub)
      hub.links.set(peerId, link)
      return link
    },
    cut(peerId) {
      hub.unreachable.add(peerId)
      hub.links.get(peerId)?.sever()
    },
    mend: (peerId) => void hub.unreachable.delete(peerId)
  }
}

interface Hub {
  readonly clock: Clock
  readonly links: Map<string, MemoryLink>
  readonly unreachable: Set<string>
}

interface Served {
  readonly handler: ExchangeHandler
  readonly requestBytesMax: number
}

/** The open channels and streams between two links; both share this object. */
class Connection {
  readonly channels = new Set<MemoryChannel>()
  readonly bulks = new Set<BulkPipe>()
}

class MemoryLink implements Link {
  readonly self: string
  onChannel: (channel: Channel) => void = () => {}
  onBulk: (peer: string, tag: Uint8Array, source: BulkSource) => void = (_peer, _tag, source) => {
    source.abort(new Error('this node does not read bulk streams'))
  }
  readonly #hub: Hub
  readonly #connections = new Map<string, Connection>()
  readonly #channels = new Map<string, MemoryChannel>()
  readonly #served = new Map<string, Served>()
  #isRunning = false

  constructor(self: string, hub: Hub) {
    this.self = self
    this.#hub = hub
  }

  async start(): Promise<void> {
    this.#isRunning = true
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    const channels = [...this.#connections.values()].flatMap((connection) => [...connection.channels])
    await Promise.all(channels.map((channel) => channel.close()))
    this.sever()
  }

  async connect({ id }: PeerAddress, signal: AbortSignal): Promise<Channel> {
    signal.throwIfAborted()
    const ready = this.#channels.get(id)
    if (ready?.open === true) return ready
    const other = await within(this.#reach(id), signal)
    // The peer may have opened a channel meanwhile. One channel is enough for both.
    const opened = this.#channels.get(id)
    return opened?.open === true ? opened : this.#openChannel(other)
  }

  async exchange(
    { id }: PeerAddress,
    protocol: string,
    request: Uint8Array,
    { responseBytesMax, signal, timeoutMs = EXCHANGE_MS }: ExchangeOptions
  ): Promise<Uint8Array> {
    const limit = deadline(this.#hub.clock, timeoutMs, () => new Error('no response in time'), signal)
    try {
      const other = await within(this.#reach(id), limit.signal)
      const answer = await within(other.answer(protocol, request.slice(), this.self), limit.signal)
      if (answer.length > responseBytesMax) throw new RangeError('the response is too large')
      return answer.slice()
    } catch (error) {
      signal.throwIfAborted()
      throw new SoukError('owner_unreachable', 'A node could not be queried.', { cause: error })
    } finally {
      limit.clear()
    }
  }

  serve(protocol: string, handler: ExchangeHandler, { requestBytesMax }: { requestBytesMax: number }): void {
    this.#served.set(protocol, { handler, requestBytesMax })
  }

  peers(): readonly PeerAddress[] {
    return Array.from(this.#connections.keys(), (id) => ({ id, addresses: [] }))
  }

  async answer(protocol: string, request: Uint8Array, peer: string): Promise<Uint8Array> {
    const served = this.#served.get(protocol)
    if (served === undefined) throw new Error(`this node does not serve ${protocol}`)
    if (request.length > served.requestBytesMax) throw new RangeError('the request is too large')
    return served.handler(request, peer)
  }

  /** Breaks all connections. */
  sever(): void {
    for (const [id, connection] of this.#connections) {
      this.#connections.delete(id)
      this.#hub.links.get(id)?.forget(this.self)
      const error = new Error('the connection broke')
      for (const channel of connection.channels) channel.end(error)
      for (const bulk of connection.bulks) bulk.break(error)
    }
  }

  forget(id: string): void {
    this.#connections.delete(id)
  }

  /** Resolves to the other end in a later turn. */
  #reach(id: string): Promise<MemoryLink> {
    const { clock, links, unreachable } = this.#hub
    return new Promise((resolve, reject) => {
      clock.soon(() => {
        const other = links.get(id)
        const isCut = unreachable.has(id) || unreachable.has(this.self)
        if (isCut || other === undefined || other === this || !this.#isRunning || !other.#isRunning) {
          reject(new SoukError('owner_unreachable'))
        } else {
          this.#connectionTo(other)
          resolve(other)
        }
      })
    })
  }

  #connectionTo(other: MemoryLink): Connection {
    const connection = this.#connections.get(other.self) ?? new Connection()
    this.#connections.set(other.self, connection)
    other.#connections.set(this.self, connection)
    return connection
  }

  #openChannel(other: MemoryLink): Channel {
    const ours = this.#channelEnd(other, true)
    const theirs = other.#channelEnd(this, false)
    ours.other = theirs
    theirs.other = ours
    this.onChannel(ours)
    other.onChannel(theirs)
    return ours
  }

  #channelEnd(other: MemoryLink, outbound: boolean): MemoryChannel {
    const { channels } = this.#connectionTo(other)
    const channel = new MemoryChannel({
      clock: this.#hub.clock,
      peer: other.self,
      outbound,
      openBulk: (tag, signal) => this.#openBulk(other.self, tag, signal),
      onOver: (over) => {
        channels.delete(over)
        if (this.#channels.get(other.self) === over) this.#channels.delete(other.self)
      }
    })
    channels.add(channel)
    this.#channels.set(other.self, channel)
    return channel
  }

  async #openBulk(peer: string, tag: Uint8Array, signal: AbortSignal): Promise<BulkSink> {
    signal.throwIfAborted()
    const other = await within(this.#reach(peer), signal)
    const { bulks } = this.#connectionTo(other)
    const pipe = bulkPipe(() => bulks.delete(pipe))
    bulks.add(pipe)
    other.onBulk(this.self, tag, pipe.source)
    return pipe.sink
  }
}
