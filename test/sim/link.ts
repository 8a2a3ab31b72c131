import { deadline } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { EXCHANGE_MS } from '../../lib/base/limits/link.ts'
import { within } from '../../lib/base/within.ts'
import type {
  BulkSink,
  Channel,
  ExchangeHandler,
  ExchangeOptions,
  Link,
  PeerAddress
} from '../../lib/interface/link.ts'
import type { Life } from './life.ts'
import type { Rng } from './rng.ts'
import type { World } from './world.ts'

export interface LinkFaults {
  /** The maximum delay of a message, in milliseconds. */
  readonly delayMs: number
  /** Probability that a message is lost, duplicated or reordered, without notice. */
  readonly drop: number
  readonly duplicate: number
  readonly reorder: number
  /** Probability that the connection breaks after it. */
  readonly cut: number
}

/** The network between nodes: slow, lossy, with broken connections. */
export class SimNetwork {
  readonly world: World
  readonly rng: Rng
  readonly faults: () => LinkFaults
  /** Called at each message: decides whether the connection breaks before or after it, in addition to `faults`. */
  readonly breaks: () => 'before' | 'after' | undefined
  readonly #links = new Map<string, SimLink>()
  readonly #severed = new Set<string>()

  constructor(world: World, faults: () => LinkFaults, breaks: () => 'before' | 'after' | undefined = () => undefined) {
    this.world = world
    this.rng = world.rng.fork()
    this.faults = faults
    this.breaks = breaks
  }

  /** The link of one process. */
  link(self: string, life: Life): SimLink {
    const link = new SimLink(self, life, this)
    this.#links.set(self, link)
    return link
  }

  /** Isolates the peer until it is restored. */
  sever(peer: string): void {
    this.#severed.add(peer)
    this.#links.get(peer)?.breakAll('the network is gone')
  }

  mend(peer: string): void {
    this.#severed.delete(peer)
  }

  /** The peer's link, if it is reachable now. */
  reach(from: SimLink, to: string): SimLink | undefined {
    const other = this.#links.get(to)
    const isCut = this.#severed.has(to) || this.#severed.has(from.self)
    return isCut || other === undefined || other === from || !other.isUp || !from.isUp ? undefined : other
  }

  delay(): number {
    return this.rng.between(1, this.faults().delayMs)
  }
}

interface Served {
  readonly handler: ExchangeHandler
  readonly requestBytesMax: number
}

export class SimLink implements Link {
  readonly self: string
  onChannel: (channel: Channel) => void = () => {}
  onBulk: Link['onBulk'] = (_peer, _tag, source) => source.abort(new Error('no bodies of their own here'))
  readonly #life: Life
  readonly #network: SimNetwork
  readonly #channels = new Map<string, Set<SimChannel>>()
  readonly #served = new Map<string, Served>()
  #isRunning = false

  constructor(self: string, life: Life, network: SimNetwork) {
    this.self = self
    this.#life = life
    this.#network = network
    // The system closes the connections of a killed process; the others notice after the delay.
    life.onDeath(() => this.breakAll('the peer is gone'))
  }

  get isUp(): boolean {
    return this.#isRunning && !this.#life.isDead
  }

  async start(): Promise<void> {
    this.#isRunning = true
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.breakAll()
  }

  async connect({ id }: PeerAddress, signal: AbortSignal): Promise<Channel> {
    signal.throwIfAborted()
    const open = this.#openTo(id)
    if (open !== undefined) return open
    const other = await within(this.#reach(id), signal)
    return this.#openTo(id) ?? this.#open(other)
  }

  async exchange(
    { id }: PeerAddress,
    protocol: string,
    request: Uint8Array,
    { responseBytesMax, signal, timeoutMs = EXCHANGE_MS }: ExchangeOptions
  ): Promise<Uint8Array> {
    const limit = deadline(this.#life.clock(0), timeoutMs, () => new Error('no answer in time'), signal)
    try {
      const other = await within(this.#reach(id), limit.signal)
      const answer = await within(this.#ask(other, protocol, request), limit.signal)
      if (answer.length > responseBytesMax) throw new RangeError('the response is too large')
      return answer
    } catch (error) {
      signal.throwIfAborted()
      throw new SoukError('owner_unreachable', 'A node could not be asked.', { cause: error })
    } finally {
      limit.clear()
    }
  }

  serve(protocol: string, handler: ExchangeHandler, { requestBytesMax }: { requestBytesMax: number }): void {
    this.#served.set(protocol, { handler, requestBytesMax })
  }

  peers(): readonly PeerAddress[] {
    return Array.from(this.#channels.keys(), (id) => ({ id, addresses: [] }))
  }

  breakAll(why?: string): void {
    const channels = [...this.#channels.values()].flatMap((some) => [...some])
    for (const channel of channels) channel.end(why === undefined ? undefined : new Error(why))
  }

  drop(channel: SimChannel): void {
    this.#channels.get(channel.peer)?.delete(channel)
  }

  #openTo(id: string): SimChannel | undefined {
    return [...(this.#channels.get(id) ?? [])].findLast(({ open }) => open)
  }

  #open(other: SimLink): Channel {
    const ours = this.#end(other.self, true)
    const theirs = other.#end(this.self, false)
    ours.other = theirs
    theirs.other = ours
    this.onChannel(ours)
    other.onChannel(theirs)
    return ours
  }

  #end(peer: string, outbound: boolean): SimChannel {
    const channel = new SimChannel(peer, outbound, this, this.#life, this.#network)
    const channels = this.#channels.get(peer) ?? new Set()
    this.#channels.set(peer, channels.add(channel))
    return channel
  }

  #reach(id: string): Promise<SimLink> {
    return this.#life.answer(this.#network.delay(), () => {
      const other = this.#network.reach(this, id)
      if (other === undefined) throw new SoukError('owner_unreachable')
      return other
    })
  }

  /** A request may arrive twice, and its response may be lost. */
  #ask(other: SimLink, protocol: string, request: Uint8Array): Promise<Uint8Array> {
    const { rng, faults, world } = this.#network
    const broken = this.#network.breaks()
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the connection broke'))
      if (broken === 'before') return gone()
      const deliver = () => {
        if (!other.isUp) return
        other.answer(protocol, request.slice(), this.self).then((answer) => {
          if (broken === 'after') return gone()
          if (rng.chance(faults().drop)) return
          world.after(this.#network.delay(), () => this.isUp && resolve(answer))
        }, reject)
      }
      if (!rng.chance(faults().drop)) world.after(this.#network.delay(), deliver)
      if (rng.chance(faults().duplicate)) world.after(this.#network.delay() * 3, deliver)
    })
  }

  async answer(protocol: string, request: Uint8Array, peer: string): Promise<Uint8Array> {
    const served = this.#served.get(protocol)
    if (served === undefined || request.length > served.requestBytesMax) throw new Error('nobody answers that here')
    return served.handler(request, peer)
  }
}

class SimChannel implements Channel {
  readonly peer: string
  readonly outbound: boolean
  readonly queuedBytes = 0
  onFrame: (frame: Uint8Array) => void = () => {}
  onClose: (error?: Error) => void = () => {}
  other: SimChannel | undefined
  readonly #link: SimLink
  readonly #life: Life
  readonly #network: SimNetwork
  #isOpen = true
  /** The arrival time of the last frame; later frames arrive later. */
  #arrivesAt = 0

  constructor(peer: string, outbound: boolean, link: SimLink, life: Life, network: SimNetwork) {
    this.peer = peer
    this.outbound = outbound
    this.#link = link
    this.#life = life
    this.#network = network
  }

  get open(): boolean {
    return this.#isOpen
  }

  send(frame: Uint8Array): void {
    if (!this.open) throw new SoukError('owner_unreachable', 'The link to the peer is closed.')
    if (this.#life.isDead) return
    const { rng, faults, world } = this.#network
    const { drop, duplicate, reorder, cut, delayMs } = faults()
    const broken = this.#network.breaks()
    if (broken === 'before') return this.end(new Error('the connection broke'))
    if (rng.chance(drop)) return
    const bytes = frame.slice()
    const arrive = () => this.other?.receive(bytes)
    const isLate = rng.chance(reorder)
    const wayMs = isLate ? rng.between(1, 4 * delayMs) : this.#inOrder()
    void world.after(wayMs, arrive)
    // At once, because a delayed duplicate could be accepted where the first was rejected, without an error at either end.
    if (rng.chance(duplicate)) void world.after(wayMs, arrive)
    if (broken === 'after') void world.after(wayMs, () => this.end(new Error('the connection broke')))
    if (rng.chance(cut)) void world.after(rng.between(0, delayMs), () => this.end(new Error('the connection broke')))
  }

  #inOrder(): number {
    const { now } = this.#network.world
    this.#arrivesAt = Math.max(this.#arrivesAt, now + this.#network.delay())
    return this.#arrivesAt - now
  }

  receive(frame: Uint8Array): void {
    if (!this.#isOpen || this.#life.isDead) return
    try {
      this.onFrame(frame)
    } catch (error) {
      this.end(error instanceof Error ? error : new Error('a frame could not be read', { cause: error }))
    }
  }

  openBulk(): Promise<BulkSink> {
    return Promise.reject(new SoukError('owner_unreachable'))
  }

  async close(): Promise<void> {
    this.end()
  }

  abort(error: Error): void {
    this.end(error)
  }

  /** Ends here at once, and at the peer after the delay. */
  end(error?: Error): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#link.drop(this)
    const { other } = this
    const { world } = this.#network
    // Earlier frames may still arrive before the end.
    const wordAt = Math.max(this.#arrivesAt, world.now + this.#network.delay())
    void world.after(wordAt - world.now, () => other?.end(error ?? new Error('the peer closed the channel')))
    if (!this.#life.isDead) this.onClose(error)
  }
}
