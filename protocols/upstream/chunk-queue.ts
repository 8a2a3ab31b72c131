import { Fifo } from '../../lib/base/fifo.ts'
import { SMALL_CHUNK_BYTES, SMALL_CHUNKS_MAX } from '../../lib/base/limits/upstream.ts'

/**
 * The bytes of a body that wait for their reader. Small chunks are joined while they wait, because a chunk takes a hundred bytes
 * beside its own, and keeps the whole buffer that it was read from.
 */
export class ChunkQueue {
  readonly #chunks = new Fifo<Uint8Array>()
  /** Small chunks, which follow all others. */
  #small: Uint8Array[] = []

  push(chunk: Uint8Array): void {
    if (chunk.byteLength < SMALL_CHUNK_BYTES) {
      this.#small.push(chunk)
      if (this.#small.length === SMALL_CHUNKS_MAX) this.#join()
    } else {
      this.#join()
      this.#chunks.push(chunk)
    }
  }

  /** Removes the oldest bytes. */
  shift(): Uint8Array | undefined {
    const chunk = this.#chunks.shift()
    if (chunk !== undefined || this.#small.length === 0) return chunk
    this.#join()
    return this.#chunks.shift()
  }

  /** Removes all bytes. */
  take(): Uint8Array[] {
    this.#join()
    const chunks = [...this.#chunks]
    this.#chunks.clear()
    return chunks
  }

  #join(): void {
    const [first, second] = this.#small
    if (first === undefined) return
    this.#chunks.push(second === undefined ? first : Buffer.concat(this.#small))
    this.#small = []
  }
}
