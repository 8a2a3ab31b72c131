import type { Connection, Stream } from '@libp2p/interface'
import { pEvent } from 'p-event'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { LINK_BUFFER_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSink, Channel } from '../interface/link.ts'
import { FrameReader } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { isRelayed } from './reach/is-relayed.ts'
import { updateWindowByHalves } from './window-updates.ts'

export const CALL_PROTOCOL = '/souk/call/1.0.0'

/** Opens a bulk stream on the channel's connection. */
export type OpenBulk = (connection: Connection, tag: Uint8Array, signal: AbortSignal) => Promise<BulkSink>

/** A channel of frames over one long-lived libp2p stream. */
export class StreamChannel implements Channel {
  readonly peer: string
  readonly outbound: boolean
  readonly isRelayed: boolean
  onFrame: (frame: Uint8Array) => void = () => {}
  onClose: (error?: Error) => void = () => {}
  readonly #stream: Stream
  readonly #connection: Connection
  readonly #openBulk: OpenBulk
  readonly #reader = new FrameReader()
  readonly #writer: FrameWriter
  #state: 'open' | 'closing' | 'over' = 'open'
  #closing: Promise<void> | undefined
  #onQueueEmpty: (() => void) | undefined
  /** Whether frames were sent since the peer's last one, in this period of `isSilent` or before it. */
  #unanswered: 'none' | 'new' | 'old' = 'none'

  constructor(stream: Stream, connection: Connection, clock: Pick<Clock, 'soon'>, openBulk: OpenBulk) {
    this.peer = connection.remotePeer.toString()
    this.outbound = stream.direction === 'outbound'
    this.isRelayed = isRelayed(connection)
    this.#stream = stream
    this.#connection = connection
    this.#openBulk = openBulk
    this.#writer = new FrameWriter(stream, clock, (error) => this.abort(error))
    stream.maxWriteBufferLength = LINK_BUFFER_BYTES_MAX
    updateWindowByHalves(stream)
    // Runs at the end of the turn that creates the channel, after `onFrame` was set.
    queueMicrotask(() => this.#listen())
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  get queuedBytes(): number {
    return this.#writer.queuedBytes + this.#stream.writeBufferLength
  }

  /** Call it in regular periods. True once where the peer sent nothing for a whole period after a frame of this node. */
  isSilent(): boolean {
    const isSilent = this.#unanswered === 'old'
    this.#unanswered = this.#unanswered === 'new' ? 'old' : 'none'
    return isSilent
  }

  send(frame: Uint8Array, running?: number): void {
    if (!this.open) throw new SoukError('owner_unreachable', 'The link to the peer is closed.')
    if (this.#unanswered === 'none') this.#unanswered = 'new'
    this.#writer.write(frame, running)
    // Senders check `queuedBytes` first. Above this size, the peer requests more than it reads.
    if (this.queuedBytes > LINK_BUFFER_BYTES_MAX) this.abort(new Error('the peer does not read'))
  }

  async openBulk(tag: Uint8Array, signal: AbortSignal): Promise<BulkSink> {
    // The peer keeps only some streams that no frame has announced, and frames wait for others.
    this.#writer.flush()
    await this.#framesLeft(signal)
    return this.#openBulk(this.#connection, tag, signal)
  }

  close(): Promise<void> {
    this.#closing ??= this.#flushAndClose()
    return this.#closing
  }

  abort(error: Error): void {
    this.#stream.abort(error)
    this.#end(error)
  }

  #listen(): void {
    this.#stream.addEventListener('message', (event) => {
      this.#unanswered = 'none'
      try {
        this.#reader.push(event.data.subarray(), this.#deliver)
      } catch (error) {
        this.abort(error instanceof Error ? error : new Error('a frame is invalid', { cause: error }))
      }
    })
    this.#stream.addEventListener('drain', () => {
      this.#writer.drained()
      if (this.#writer.queuedBytes === 0) this.#onQueueEmpty?.()
    })
    this.#stream.addEventListener('remoteCloseWrite', () => this.#onPeerClose())
    this.#stream.addEventListener('close', ({ error }) => {
      this.#end(error ?? (this.open ? new Error('the connection closed') : undefined))
    })
    if (this.#stream.status !== 'open') this.#end(new Error('the stream closed while it was opening'))
    // The peer closed its end before we listened. Its frames are delivered first, one microtask later.
    else if (this.#stream.remoteWriteStatus === 'closed') queueMicrotask(() => this.#onPeerClose())
  }

  /** Resolves when the connection has taken all frames so far. */
  async #framesLeft(signal: AbortSignal): Promise<void> {
    const frames = this.#writer.acceptedBytes
    const options = { rejectionEvents: ['close'], signal }
    while (this.#writer.acceptedBytes - this.queuedBytes < frames) await pEvent(this.#stream, 'idle', options)
  }

  /** Drops frames that arrived in one chunk with a frame that ended the channel. */
  readonly #deliver = (frame: Uint8Array): void => {
    if (this.#state !== 'over') this.onFrame(frame)
  }

  async #flushAndClose(): Promise<void> {
    if (!this.open) return
    this.#state = 'closing'
    this.#writer.flush()
    if (this.#writer.queuedBytes > 0) {
      await new Promise<void>((resolve) => {
        this.#onQueueEmpty = resolve
      })
    }
    // A stream that breaks meanwhile emits `close`.
    await this.#stream.close().catch(() => {})
    this.#end()
  }

  /** The peer has closed and reads nothing more, so the queue is dropped. */
  #onPeerClose(): void {
    this.#end()
    if (this.queuedBytes > 0) this.#stream.abort(new Error('the peer closed the channel'))
    else this.#stream.close().catch(() => {})
  }

  #end(error?: Error): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#onQueueEmpty?.()
    this.onClose(error)
  }
}
