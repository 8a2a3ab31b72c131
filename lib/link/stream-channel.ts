import type { Connection, Stream } from '@libp2p/interface'
import { SoukError } from '../base/errors.ts'
import { LINK_BUFFER_BYTES_MAX } from '../base/limits.ts'
import type { BulkSink, Channel } from '../interface/link.ts'
import { FrameReader } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'

/** Opens a bulk stream on the connection a channel runs on. */
export type OpenBulk = (connection: Connection, tag: Uint8Array, signal: AbortSignal) => Promise<BulkSink>

/** A channel of frames over one long-lived libp2p stream. */
export class StreamChannel implements Channel {
  readonly peer: string
  readonly outbound: boolean
  onFrame: (frame: Uint8Array) => void = () => {}
  onClose: (error?: Error) => void = () => {}
  readonly #stream: Stream
  readonly #connection: Connection
  readonly #openBulk: OpenBulk
  readonly #reader = new FrameReader()
  readonly #writer: FrameWriter
  #open = true

  constructor(stream: Stream, connection: Connection, openBulk: OpenBulk) {
    this.peer = connection.remotePeer.toString()
    this.outbound = stream.direction === 'outbound'
    this.#stream = stream
    this.#connection = connection
    this.#openBulk = openBulk
    this.#writer = new FrameWriter(stream, (error) => this.abort(error))
    stream.maxWriteBufferLength = LINK_BUFFER_BYTES_MAX
    // Set last in the turn that made the channel, so that whoever was given it has its `onFrame` in place.
    queueMicrotask(() => this.#listen())
  }

  get open(): boolean {
    return this.#open
  }

  get queuedBytes(): number {
    return this.#writer.queuedBytes + this.#stream.writeBufferLength
  }

  send(frame: Uint8Array): void {
    if (!this.#open) throw new SoukError('owner_unreachable', 'The link to the peer is closed.')
    this.#writer.write(frame)
  }

  openBulk(tag: Uint8Array, signal: AbortSignal): Promise<BulkSink> {
    return this.#openBulk(this.#connection, tag, signal)
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#writer.flush()
    try {
      await this.#stream.close()
    } finally {
      this.#end()
    }
  }

  abort(error: Error): void {
    this.#stream.abort(error)
    this.#end(error)
  }

  #listen(): void {
    this.#stream.addEventListener('message', (event) => {
      try {
        this.#reader.push(event.data.subarray(), this.onFrame)
      } catch (error) {
        this.abort(error instanceof Error ? error : new Error('a frame could not be read', { cause: error }))
      }
    })
    this.#stream.addEventListener('drain', () => this.#writer.drained())
    this.#stream.addEventListener('remoteCloseWrite', () => void this.close().catch(() => this.#end()))
    this.#stream.addEventListener('close', (event) => this.#end(event.error))
    if (this.#stream.status !== 'open') this.#end(new Error('the stream closed while it was opened'))
  }

  #end(error?: Error): void {
    if (!this.#open) return
    this.#open = false
    this.onClose(error)
  }
}
