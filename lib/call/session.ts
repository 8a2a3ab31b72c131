import { afterLimit, type Clock } from '../base/clock.ts'
import { IN_FLIGHT_PER_PEER_MAX } from '../base/limits/admission.ts'
import { FRAME_BYTES_MAX, HELLO_MS } from '../base/limits/link.ts'
import { unreachable } from '../base/unreachable.ts'
import type { Channel } from '../interface/link.ts'
import type { RequestFrame, ResponseFrame } from '../interface/call-messages.ts'
import { decodeFrame, encodeFrame, type FailureFrame, type Frame, type Hello } from './frame.ts'

/** Receivers of a session's frames: the client and server half of the protocol on one channel. */
export interface SessionHalves {
  onRequest(request: RequestFrame): void
  onCancel(id: number): void
  onAck(requestIds: readonly Uint8Array[]): void
  onResponse(response: ResponseFrame): void
  onFailure(failure: FailureFrame): void
  onClose(): void
}

export interface SessionInit {
  readonly clock: Clock
  readonly network: string
  readonly epoch: bigint
  readonly agent: string
}

/** The part of a peer's hello that a session keeps. The texts of a hello may fill a frame, for each channel. */
type Greeting = Pick<Hello, 'epoch' | 'inFlightMax'>

/** One channel and its hellos. Dispatches frames by kind. */
export class Session {
  readonly channel: Channel
  /** Resolves with the peer's hello. Rejects when none arrives, it is of another network, or the channel closes. */
  readonly ready: Promise<Greeting>
  /** The peer's hello, once received. */
  hello: Greeting | undefined
  /** The peer is stopping and accepts no new calls. */
  isDraining = false
  /** Each call that the peer accepted has its response. It accepts no other one on this channel. */
  isDrained = false
  /** Set in the turn that creates the session, before any frame arrives. */
  halves: SessionHalves | undefined

  constructor(channel: Channel, init: SessionInit) {
    this.channel = channel
    const hello = Promise.withResolvers<Greeting>()
    this.ready = hello.promise
    // Callers of this session see the rejection. An unused session must not raise it as unhandled.
    hello.promise.catch(() => {})
    const timer = afterLimit(init.clock, HELLO_MS, () => channel.abort(new Error('the peer sent no hello')))

    channel.onFrame = (bytes) => {
      const frame = decodeFrame(bytes)
      if (frame === undefined) return
      if (frame.kind === 'hello') {
        // The first hello counts, because running calls use its epoch. Later ones are ignored.
        if (this.hello !== undefined) return
        timer.cancel()
        if (frame.network === init.network) {
          const { epoch, inFlightMax } = frame
          this.hello = { epoch, inFlightMax }
          hello.resolve(this.hello)
        } else {
          channel.abort(new Error(`the peer belongs to network ${JSON.stringify(frame.network.slice(0, 40))}`))
        }
      } else if (this.hello === undefined) {
        channel.abort(new Error('a frame came before the hello'))
      } else {
        this.#dispatch(frame)
      }
    }
    channel.onClose = (error) => {
      timer.cancel()
      hello.reject(unreachable('handshake', error))
      this.halves?.onClose()
    }
    const { network, epoch, agent } = init
    this.send({ kind: 'hello', network, epoch, agent, inFlightMax: IN_FLIGHT_PER_PEER_MAX })
  }

  /** New calls may be sent. */
  get takesCalls(): boolean {
    return this.channel.open && !this.isDraining
  }

  /**
   * Returns false, and sends nothing, where the frame is too large: the peer would close the channel and break all
   * other calls.
   * @param running - as in `Channel.send`
   */
  send(frame: Frame, running?: number): boolean {
    const bytes = encodeFrame(frame)
    if (bytes.length > FRAME_BYTES_MAX) return false
    if (this.channel.open) this.channel.send(bytes, running)
    return true
  }

  #dispatch(frame: Exclude<Frame, { kind: 'hello' }>): void {
    switch (frame.kind) {
      case 'request':
        return this.halves?.onRequest(frame)
      case 'response':
        return this.halves?.onResponse(frame)
      case 'failure':
        return this.halves?.onFailure(frame)
      case 'cancel':
        return this.halves?.onCancel(frame.id)
      case 'ack':
        return this.halves?.onAck(frame.requestIds)
      case 'drain':
        this.isDrained = this.isDraining
        this.isDraining = true
        return
    }
  }
}
