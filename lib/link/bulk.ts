import type { Stream } from '@libp2p/interface'
import { pEvent } from 'p-event'
import { BULK_CHUNK_BYTES_MAX, LINK_BUFFER_BYTES_MAX, LINK_WINDOW_BYTES_MAX } from '../base/limits.ts'
import type { BulkSink, BulkSource } from '../interface/link.ts'

/** The sending end of a body over a libp2p stream, which starts with its tag behind one byte of length. */
export function bulkSink(stream: Stream, tag: Uint8Array): BulkSink {
  stream.maxWriteBufferLength = LINK_BUFFER_BYTES_MAX
  stream.send(Uint8Array.of(tag.length, ...tag))
  return {
    async write(chunk) {
      for (let at = 0; at < chunk.length; at += BULK_CHUNK_BYTES_MAX) {
        // A stream's own `onDrain()` resolves at once after its first use, so the event itself is what we wait for.
        const hasRoom = stream.send(chunk.subarray(at, at + BULK_CHUNK_BYTES_MAX))
        if (!hasRoom) await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch(throwClosed)
      }
    },
    end: () => stream.close(),
    abort: (error) => stream.abort(error)
  }
}

function throwClosed(event: unknown): never {
  throw new Error('the stream was closed by its reader', { cause: event })
}

/** Bytes that may wait here for a slow reader before the stream is told to pause. */
const HIGH_WATER_BYTES = 4 * BULK_CHUNK_BYTES_MAX

/** The receiving end: pauses the stream, and with it the sender, while nobody reads. */
export class StreamSource implements BulkSource {
  readonly #stream: Stream
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #paused = false
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined

  constructor(stream: Stream) {
    this.#stream = stream
    // While paused, up to a whole window may still come in; libp2p would reset the stream at its default of exactly that.
    stream.maxReadBufferLength = 2 * LINK_WINDOW_BYTES_MAX
    stream.addEventListener('message', (event) => this.#push(event.data.subarray()))
    stream.addEventListener('end', () => this.#end())
    stream.addEventListener('close', (event) => this.#end(event.error))
    if (stream.status !== 'open') this.#end(new Error('the stream closed while it was opened'))
  }

  /** Reads the tag off the front. Call it once, before anything else reads. */
  async tag(): Promise<Uint8Array> {
    let head = new Uint8Array(0)
    for (;;) {
      const tagEnd = 1 + (head[0] ?? Number.POSITIVE_INFINITY)
      if (head.length >= tagEnd) {
        const rest = head.subarray(tagEnd)
        if (rest.length > 0) {
          this.#chunks.unshift(rest)
          this.#bytes += rest.length
        }
        return head.subarray(1, tagEnd)
      }
      const chunk = await this.#next()
      if (chunk === undefined) throw new Error('the stream ended within its tag')
      head = head.length === 0 ? new Uint8Array(chunk) : Buffer.concat([head, chunk])
    }
  }

  abort(error: Error): void {
    this.#error ??= error
    this.#stream.abort(error)
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    let isFinished = false
    try {
      for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk
      isFinished = true
      await this.#stream.close()
    } finally {
      // A reader that stops early tells the sender so.
      if (!isFinished) this.#stream.abort(new Error('the reader stopped'))
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#bytes -= chunk.length
        if (this.#paused && this.#bytes < HIGH_WATER_BYTES) this.#resume()
        return chunk
      }
      if (this.#error !== undefined) throw this.#error
      if (this.#ended) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (!this.#paused && this.#bytes >= HIGH_WATER_BYTES && this.#stream.status === 'open') {
      this.#paused = true
      this.#stream.pause()
    }
    this.#wake?.()
  }

  #resume(): void {
    this.#paused = false
    if (this.#stream.status === 'open') this.#stream.resume()
  }

  #end(error?: Error): void {
    if (this.#ended) return
    // Once the readable end is closed, libp2p throws at a resume.
    this.#paused = false
    // A close without an end lost bytes, whatever its reason.
    if (error === undefined && this.#stream.readableEnded) this.#ended = true
    else this.#error ??= error ?? new Error('the stream closed before its end')
    this.#wake?.()
  }
}
