import { BULK_CHUNK_BYTES_MAX } from '../base/limits/link.ts'

const CONTINUES = 0x80

/**
 * Reads the chunks of a bulk stream. Each follows its length as an unsigned varint; the last one is empty. Received
 * parts of a chunk are passed on at once, without copying.
 */
export class ChunkReader {
  /** The empty chunk arrived: the sender ended the body cleanly. */
  isComplete = false
  #left = 0
  #length = 0
  #scale = 1

  /**
   * `endsChunk` is true for the last part of a chunk.
   * @throws RangeError for a chunk over `BULK_CHUNK_BYTES_MAX`, and for data after the empty chunk
   */
  push(data: Uint8Array, onBytes: (bytes: Uint8Array, endsChunk: boolean) => void): void {
    for (let at = 0; at < data.length; ) {
      if (this.isComplete) throw new RangeError('the body continues after its end')
      if (this.#left === 0) {
        this.#readLength(data[at] ?? 0)
        at++
      } else {
        const bytes = data.subarray(at, at + this.#left)
        at += bytes.length
        this.#left -= bytes.length
        onBytes(bytes, this.#left === 0)
      }
    }
  }

  #readLength(byte: number): void {
    this.#length += (byte & ~CONTINUES) * this.#scale
    this.#scale *= CONTINUES
    if (this.#length > BULK_CHUNK_BYTES_MAX || this.#scale > Number.MAX_SAFE_INTEGER) {
      throw new RangeError(`a chunk is larger than ${BULK_CHUNK_BYTES_MAX} bytes`)
    }
    if ((byte & CONTINUES) !== 0) return
    this.isComplete = this.#length === 0
    this.#left = this.#length
    this.#length = 0
    this.#scale = 1
  }
}
