import type { Logger } from '@libp2p/interface'
import { type Clock, deadline, sleep } from '../base/clock.ts'
import { reasonOf, SILENT_LOG } from '../base/component-log.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { givenUp } from '../base/given-up.ts'
import { RESEND_MS, RESEND_PAUSE_MS } from '../base/limits/call.ts'
import { REPLACED_CHANNEL_CHECK_MS } from '../base/limits/reach.ts'
import { formatRequestId } from '../base/request-id.ts'
import { within } from '../base/within.ts'
import { type Attempt, type Call, type CallHandler, type Caller, UNKNOWN_EPOCH } from '../interface/call.ts'
import type { Channel, Link, PeerAddress } from '../interface/link.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { BulkMailbox } from './bulk-mailbox.ts'
import { IncomingCalls, type Unsent } from './incoming-calls.ts'
import { OutgoingCalls, type SentCall } from './outgoing-calls.ts'
import { Session } from './session.ts'

export interface CallProtocolInit {
  readonly link: Link
  readonly clock: Clock
  readonly network: string
  /** Boot epoch of this process. */
  readonly epoch: bigint
  readonly agent: string
  /** Runs the calls of peers. */
  readonly handler: CallHandler
  /** The consumer has received these responses, so they need not be stored any longer. */
  readonly onAck: (peer: string, requestIds: readonly Uint8Array[]) => void
  /** Default: none. */
  readonly log?: Logger
}

interface PeerCalls {
  readonly session: Session
  readonly outgoing: OutgoingCalls
  readonly incoming: IncomingCalls
}

/** `/souk/call/1.0.0`: sends calls to peers and runs theirs, over one channel per peer. */
export class CallProtocol implements Caller {
  readonly #init: CallProtocolInit
  readonly #log: Logger
  readonly #mailbox: BulkMailbox
  readonly #unsent: Unsent = { bytes: 0 }
  readonly #channels = new Map<Channel, PeerCalls>()
  /** The channel to use per peer: the newest one that accepts calls. */
  readonly #byPeer = new Map<string, PeerCalls>()
  #isStopped = false
  #isDraining = false

  constructor(init: CallProtocolInit) {
    this.#init = init
    this.#log = init.log ?? SILENT_LOG
    this.#mailbox = new BulkMailbox(init.clock)
    init.link.onChannel = (channel) => this.#adopt(channel)
    init.link.onBulk = (peer, tag, source) => this.#mailbox.deliver(peer, tag, source)
  }

  /** The number of sent calls without a response yet. */
  get calling(): number {
    return this.#count((peer) => peer.outgoing.size)
  }

  /** Calls of peers running on this node. */
  get serving(): number {
    return this.#count((peer) => peer.incoming.size)
  }

  /** Tells every peer to send new calls elsewhere. Resolves when the responses of their running calls were sent. */
  async drain(): Promise<void> {
    this.#isDraining = true
    await Promise.all([...this.#channels.values()].map(({ incoming }) => incoming.drain()))
  }

  /** No broken link is restored from now on, because this node closes its links: calls that still run on them end. */
  stop(): void {
    this.#isStopped = true
  }

  call(owner: PeerAddress, call: Call, signal: AbortSignal | undefined): Promise<Attempt> {
    const sent = { owner, call, signal, deadlineAt: this.#init.clock.elapsed() + call.timeoutMs }
    const peer = call.isRepeat === true || signal?.aborted === true ? undefined : this.#ready(owner)
    // The usual case, without another promise: the link is up, and the call gets its response.
    if (peer !== undefined) return peer.outgoing.send(sent)
    const sentTo = call.isRepeat === true ? UNKNOWN_EPOCH : undefined
    return this.#persist(sent, sent.deadlineAt, sentTo)
  }

  /** As `OnBroken`: sends the call again, if its body is still there. */
  #resend(sent: SentCall, epoch: bigint): Attempt | Promise<Attempt> {
    if (this.#log.enabled) this.#logBroken(sent)
    // A streamed body has been consumed and cannot be sent again.
    if (!(sent.call.body instanceof Uint8Array)) return lost()
    const giveUpAt = Math.min(sent.deadlineAt, this.#init.clock.elapsed() + RESEND_MS)
    return this.#persist(sent, giveUpAt, epoch)
  }

  /**
   * Connects and sends the call. Sends a call again after a broken link, until `giveUpAt`.
   * @param sentTo - the boot epoch of the process that received it first. Undefined: not sent yet
   */
  async #persist(sent: SentCall, giveUpAt: number, sentTo: bigint | undefined): Promise<Attempt> {
    const { clock } = this.#init
    const { owner, call, signal } = sent
    for (;;) {
      if (signal?.aborted === true)
        return { fate: sentTo === undefined ? 'not_accepted' : 'lost', error: givenUp(signal) }
      const peer = this.#ready(owner) ?? (await this.#connect(owner, giveUpAt - clock.elapsed(), signal))
      let error: SoukError | undefined
      if (peer instanceof SoukError) {
        if (sentTo === undefined) return { fate: 'not_accepted', error: peer }
        error = peer
      } else {
        if (sentTo === undefined) return peer.outgoing.send(sent)
        const result = await peer.outgoing.repeat(sent, sentTo)
        if (result.fate !== 'broken' && !isUncertain(result)) return result
        if (result.fate !== 'broken') error = result.error
        if (this.#log.enabled) this.#logBroken(sent, error)
        if (!(call.body instanceof Uint8Array)) return lost()
      }
      if (this.#isStopped || clock.elapsed() + RESEND_PAUSE_MS >= giveUpAt) return lost(error)
      // The top of the loop handles an aborted pause.
      await sleep(clock, RESEND_PAUSE_MS, signal).catch(() => {})
    }
  }

  #logBroken({ owner, call }: SentCall, error?: SoukError): void {
    const why = error === undefined ? 'the link broke' : reasonOf(error)
    this.#log('%s at %s: %s; sent again with the same request id', formatRequestId(call.requestId), owner.id, why)
  }

  /** A peer's calls over a channel that has exchanged hellos. Synchronous, so that a ready channel costs no turn. */
  #ready({ id }: PeerAddress): PeerCalls | undefined {
    const peer = this.#byPeer.get(id)
    return peer?.session.takesCalls === true && peer.session.hello !== undefined ? peer : undefined
  }

  async #connect(
    owner: PeerAddress,
    timeoutMs: number,
    signal: AbortSignal | undefined
  ): Promise<PeerCalls | SoukError> {
    const late = () => new SoukError('owner_unreachable', 'The owner did not respond in time.')
    const limit = deadline(this.#init.clock, timeoutMs, late, signal)
    try {
      const channel = await this.#init.link.connect(owner, limit.signal)
      const peer = this.#channels.get(channel)
      if (peer?.session.takesCalls !== true) return new SoukError('owner_unreachable', 'The owner is stopping.')
      await within(peer.session.ready, limit.signal)
      return peer
    } catch (error) {
      return signal?.aborted === true ? givenUp(signal) : asSoukError(error)
    } finally {
      limit.clear()
    }
  }

  #adopt(channel: Channel): void {
    const { clock, handler, onAck } = this.#init
    const session = new Session(channel, this.#init)
    const acks = new Acknowledgements(clock, (requestIds) => session.send({ kind: 'ack', requestIds }))
    const outgoing = new OutgoingCalls(
      session,
      this.#mailbox,
      clock,
      (requestId) => acks.add(requestId),
      (sent, epoch) => this.#resend(sent, epoch)
    )
    const incoming = new IncomingCalls(session, this.#mailbox, clock, handler, this.#unsent)
    session.halves = {
      onRequest: (request) => incoming.onRequest(request),
      onCancel: (id) => incoming.onCancel(id),
      onAck: (requestIds) => {
        const counted = incoming.acknowledged(requestIds)
        if (counted.length > 0) onAck(channel.peer, counted)
      },
      onResponse: (response) => outgoing.onResponse(response),
      onFailure: (failure) => outgoing.onFailure(failure),
      onClose: () => {
        this.#forget(channel)
        this.#mailbox.closed(channel)
        acks.stop()
        outgoing.onClose()
        incoming.onClose()
      }
    }
    const peer = { session, outgoing, incoming }
    this.#channels.set(channel, peer)
    this.#byPeer.set(channel.peer, peer)
    if (channel.isRelayed !== true) this.#retireRelayed(channel.peer)
    if (this.#isDraining) void incoming.drain()
  }

  /**
   * A direct channel replaces the relayed ones. New calls of both sides use the newest channel. Calls that run on a relayed
   * one end there.
   */
  #retireRelayed(id: string): void {
    for (const [channel, calls] of this.#channels) {
      if (channel.peer === id && channel.isRelayed === true) this.#closeWhenIdle(channel, calls, false)
    }
  }

  /** The peer may send on the old channel until it has the new one, so the channel has to be idle twice. */
  #closeWhenIdle(channel: Channel, calls: PeerCalls, wasIdle: boolean): void {
    this.#init.clock.after(REPLACED_CHANNEL_CHECK_MS, () => {
      if (!channel.open) return
      const isIdle = calls.outgoing.size === 0 && calls.incoming.size === 0
      if (isIdle && wasIdle) void channel.close()
      else this.#closeWhenIdle(channel, calls, isIdle)
    })
  }

  #forget(channel: Channel): void {
    const peer = this.#channels.get(channel)
    this.#channels.delete(channel)
    if (peer !== undefined && this.#byPeer.get(channel.peer) === peer) this.#byPeer.delete(channel.peer)
  }

  #count(of: (peer: PeerCalls) => number): number {
    let sum = 0
    for (const peer of this.#channels.values()) sum += of(peer)
    return sum
  }
}

/** On a repeat, a refusal by an overloaded owner does not tell the outcome of the first attempt. */
function isUncertain(attempt: Attempt): attempt is Exclude<Attempt, { fate: 'answered' }> {
  return attempt.fate === 'not_accepted' && attempt.error.code === 'overloaded'
}

function lost(cause?: SoukError): Attempt {
  const detail =
    'The link to the owner broke, and the outcome of the call is unknown. A repeat with the same idempotency key, or the same payment, is safe. Any other repeat may run the call again.'
  return { fate: 'lost', error: new SoukError('call_interrupted', detail, { cause }) }
}
