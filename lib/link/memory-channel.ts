import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { FRAME_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSink, Channel } from '../interface/link.ts'

export interface MemoryChannelInit {
  readonly clock: Clock
  readonly peer: string
  readonly outbound: boolean
  readonly openBulk: (tag: Uint8Array, signal: AbortSignal) => Promise<BulkSink>
  readonly onOver: (channel: MemoryChannel) => void
}

/** One end of an in-memory channel. Frames of one turn arrive together in a later turn, in order. */
export class MemoryChannel implements Channel {
  readonly peer: string
  readonly outbound: boolean
  onFrame: (frame: Uint8Array) => void = () => {}
  onClose: (error?: Error) => void = () => {}
  /** Set in the turn that creates both ends. */
  other: MemoryChannel | undefined
  readonly #init: MemoryChannelInit
  #state: 'open' | 'closing' | 'over' = 'open'
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #isDue = false
  readonly #closed = Promise.withResolvers<void>()

  constructor(init: MemoryChannelInit) {
    this.#init = init
    this.peer = init.peer
    this.outbound = init.outbound
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  get queuedBytes(): number {
    return this.#queuedBytes
  }

  send(frame: Uint8Array): void {
    if (!this.open) throw new SoukError('owner_unreachable', 'The link to the peer is closed.')
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
    this.#deliverSoon()
  }

  openBulk(tag: Uint8Array, signal: AbortSignal): Promise<BulkSink> {
    return this.#init.openBulk(tag, signal)
  }

  close(): Promise<void> {
    if (this.open) {
      this.#state = 'closing'
      this.#deliverSoon()
    }
    return this.#closed.promise
  }

  abort(error: Error): void {
    const { other } = this
    if (this.#state !== 'over') this.#init.clock.soon(() => other?.end(new Error('the peer reset the channel')))
    this.end(error)
  }

  /** Ends at once and drops the queue. */
  end(error?: Error): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#queue = []
    this.#queuedBytes = 0
    this.#closed.resolve()
    this.#init.onOver(this)
    this.onClose(error)
  }

  #deliverSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#init.clock.soon(() => this.#deliver())
  }

  #deliver(): void {
    this.#isDue = false
    const frames = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    for (const frame of frames) this.other?.receive(frame)
    if (this.#state !== 'closing') return
    this.other?.end()
    this.end()
  }

  receive(frame: Uint8Array): void {
    if (this.#state === 'over') return
    try {
      if (frame.length > FRAME_BYTES_MAX) throw new RangeError('a frame is too large')
      this.onFrame(frame)
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error('a frame is invalid', { cause: error }))
    }
  }
}
