import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { FRAME_BYTES_MAX, HELLO_MS, IN_FLIGHT_PER_PEER_MAX } from '../base/limits.ts'
import type { Channel } from '../interface/link.ts'
import type { FailureFrame, Frame, Hello, RequestFrame, ResponseFrame } from './frame.ts'
import { decodeFrame, encodeFrame } from './frame-codec.ts'

/** What a session hands its frames to: the two halves of the protocol over one channel. */
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

/** One channel after its hellos: frames in and out, by kind. */
export class Session {
  readonly channel: Channel
  /** Resolves with the peer's hello; rejects when it does not come, is of another network, or the channel ends. */
  readonly ready: Promise<Hello>
  /** The peer's hello once it is there. */
  hello: Hello | undefined
  /** The peer is about to stop: it takes no new calls. */
  isDraining = false
  /** Set in the turn that made the session, before any frame can have come. */
  halves: SessionHalves | undefined

  constructor(channel: Channel, init: SessionInit) {
    this.channel = channel
    const hello = Promise.withResolvers<Hello>()
    this.ready = hello.promise
    // Whoever calls through this session sees the rejection; a session nobody uses must not raise it as unhandled.
    hello.promise.catch(() => {})
    const timer = init.clock.after(HELLO_MS, () => channel.abort(new Error('the peer said no hello')))

    channel.onFrame = (bytes) => {
      const frame = decodeFrame(bytes)
      if (frame === undefined) return
      if (frame.kind === 'hello') {
        timer.cancel()
        if (frame.network === init.network) {
          // The first one counts: calls under way hold on to its epoch.
          this.hello ??= frame
          hello.resolve(this.hello)
        } else {
          channel.abort(new Error(`the peer is of network ${JSON.stringify(frame.network.slice(0, 40))}`))
        }
      } else if (this.hello === undefined) {
        channel.abort(new Error('a frame came before the hello'))
      } else {
        this.#dispatch(frame)
      }
    }
    channel.onClose = (error) => {
      timer.cancel()
      hello.reject(new SoukError('owner_unreachable', undefined, { cause: error }))
      this.halves?.onClose()
    }
    const { network, epoch, agent } = init
    this.send({ kind: 'hello', network, epoch, agent, inFlightMax: IN_FLIGHT_PER_PEER_MAX })
  }

  /** New calls may be sent. */
  get takesCalls(): boolean {
    return this.channel.open && !this.isDraining
  }

  /** Tells whether it was small enough to be sent; the peer would hang up at a larger one, and with it at every other call. */
  send(frame: Frame): boolean {
    const bytes = encodeFrame(frame)
    if (bytes.length > FRAME_BYTES_MAX) return false
    if (this.channel.open) this.channel.send(bytes)
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
        this.isDraining = true
        return
    }
  }
}
