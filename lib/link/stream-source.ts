import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import { Fifo } from '../base/fifo.ts'
import { BULK_CHUNK_BYTES_MAX, BULK_TAG_BYTES_MAX, LINK_WINDOW_BYTES_MAX } from '../base/limits/link.ts'
import type { BulkSource } from '../interface/link.ts'
import { BoundedReading } from './bounded-reading.ts'
import { ChunkReader } from './chunk-reader.ts'
import type { UnreadBodies, UnreadBody } from './unread-bodies.ts'
import { narrowWindow, updateWindowByHalves } from './window-updates.ts'

/** Bytes queued for a slow reader before the stream is paused. */
const HIGH_WATER_BYTES = 4 * BULK_CHUNK_BYTES_MAX
/** Memory of a queued part beside its bytes: a peer may send a body in parts of one byte. */
const PART_BYTES = 128

/** The receiving end of a body over a libp2p stream. Without a reader, pauses the stream and thereby the sender. */
export class StreamSource implements BulkSource, UnreadBody {
  readonly peer: string
  /** The stream's first chunk. */
  readonly tag: Promise<Uint8Array>
  readonly #stream: Stream
  readonly #reading: BoundedReading
  readonly #unread: UnreadBodies
  readonly #reader = new ChunkReader()
  readonly #tagRead = Promise.withResolvers<Uint8Array>()
  #tagBytes: Uint8Array[] | undefined = []
  readonly #chunks = new Fifo<Uint8Array>()
  /** Memory of the queued parts. */
  #bytes = 0
  #error: Error | undefined
  #wake: (() => void) | undefined

  /** @param unread limits the bytes that wait for readers, over all bodies */
  constructor(stream: Stream, peer: string, unread: UnreadBodies) {
    this.#stream = stream
    this.#reading = new BoundedReading(stream, () => this.#bytes >= HIGH_WATER_BYTES)
    this.peer = peer
    this.#unread = unread
    this.tag = this.#tagRead.promise
    // While paused, up to a whole window may still arrive. libp2p resets the stream at its default, which is exactly
    // one window.
    stream.maxReadBufferLength = 2 * LINK_WINDOW_BYTES_MAX
    updateWindowByHalves(stream)
    stream.addEventListener('message', (event) => this.#push(event.data))
    stream.addEventListener('remoteCloseWrite', () => this.#checkEnd())
    stream.addEventListener('close', (event) => this.#onClose(event.error))
    if (stream.status === 'open') this.#checkEnd()
    else this.#onClose()
  }

  /** A paused stream has bytes in a buffer of its own. */
  get unreadBytes(): number {
    return this.#bytes + this.#stream.readBufferLength
  }

  narrow(): void {
    narrowWindow(this.#stream)
  }

  abort(error: Error): void {
    this.#error ??= error
    this.#chunks.clear()
    this.#bytes = 0
    this.#stream.abort(error)
    this.#fail(error)
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    let isOver = false
    return {
      next: async () => {
        const value = isOver ? undefined : await this.#next()
        if (value !== undefined) return { done: false, value }
        isOver = true
        // Closes this end too, so that libp2p releases the stream. Does not wait for it.
        this.#stream.close().catch(() => {})
        return { done: true, value: undefined }
      },
      return: async () => {
        // A reader that stops early tells the sender, even while a `next` is pending.
        if (!isOver) this.abort(new Error('the reader stopped'))
        isOver = true
        return { done: true, value: undefined }
      }
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#bytes -= chunk.length + PART_BYTES
        if (this.#bytes < HIGH_WATER_BYTES) this.#reading.resume()
        return chunk
      }
      if (this.#error !== undefined) throw this.#error
      if (this.#reader.isComplete) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #push(data: Uint8Array | Uint8ArrayList): void {
    try {
      // After a pause, all queued data is one message. Its parts are kept separate to avoid a copy.
      for (const part of data instanceof Uint8Array ? [data] : data) this.#reader.push(part, this.#onBytes)
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error('a chunk is invalid', { cause: error }))
    }
    this.#reading.pauseIfEnough()
    this.#checkEnd()
    this.#wake?.()
    if (this.#bytes > 0) this.#unread.watch(this)
  }

  readonly #onBytes = (bytes: Uint8Array, endsChunk: boolean): void => {
    if (this.#tagBytes === undefined) {
      this.#chunks.push(bytes)
      this.#bytes += bytes.length + PART_BYTES
      return
    }
    this.#tagBytes.push(bytes)
    const tag = Buffer.concat(this.#tagBytes)
    if (tag.length > BULK_TAG_BYTES_MAX) throw new RangeError('the tag is too long')
    if (!endsChunk) return
    this.#tagBytes = undefined
    this.#tagRead.resolve(tag)
  }

  #onClose(error?: Error): void {
    // A connection may close after the whole body arrived, while a part is still held back by the pause.
    this.#reading.resume()
    this.#fail(error ?? 'the stream closed before its end')
  }

  /** A stream that ends before its body is an error. */
  #checkEnd(): void {
    const hasEnded = this.#stream.remoteWriteStatus === 'closed' && this.#stream.readBufferLength === 0
    if (hasEnded) this.#fail('the stream ended before its body')
  }

  /** Does nothing once the body is complete. A text becomes an error only here, because an error captures its stack. */
  #fail(error: Error | string): void {
    if (!this.#reader.isComplete || this.#tagBytes !== undefined) {
      this.#error ??= typeof error === 'string' ? new Error(error) : error
      this.#tagRead.reject(this.#error)
    }
    this.#wake?.()
  }
}
