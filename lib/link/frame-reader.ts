import { decode, encodingLength } from 'uint8-varint'
import { FRAME_BYTES_MAX } from '../base/limits/link.ts'

const PREFIX_BYTES_MAX = encodingLength(FRAME_BYTES_MAX)
const CONTINUES = 0x80

/**
 * Splits a byte stream into frames, each prefixed with its length as an unsigned varint. A frame within one chunk, the
 * usual case on a busy link, is a view without copying.
 */
export class FrameReader {
  #chunks: Uint8Array[] = []
  #bytes = 0
  /** Bytes to wait for before the next parse, so that chunks of a large frame are joined once. */
  #wanted = 1

  /** @throws RangeError when a frame announces more than `FRAME_BYTES_MAX`; the stream is unusable afterwards */
  push(chunk: Uint8Array, onFrame: (frame: Uint8Array) => void): void {
    this.#bytes += chunk.length
    if (this.#chunks.length > 0 || this.#bytes < this.#wanted) this.#chunks.push(chunk)
    if (this.#bytes < this.#wanted) return

    const data = this.#chunks.length === 0 ? chunk : Buffer.concat(this.#chunks, this.#bytes)
    const taken = this.#cut(data, onFrame)
    const rest = data.subarray(taken)
    this.#bytes = rest.length
    this.#chunks = rest.length === 0 ? [] : [rest]
  }

  #cut(data: Uint8Array, onFrame: (frame: Uint8Array) => void): number {
    let at = 0
    for (;;) {
      const prefixEnd = endOfPrefix(data, at)
      if (prefixEnd === undefined) {
        this.#wanted = data.length - at + 1
        return at
      }
      const length = decode(data, at)
      if (length > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${length} bytes is larger than ${FRAME_BYTES_MAX}`)
      const end = prefixEnd + length
      if (end > data.length) {
        this.#wanted = end - at
        return at
      }
      onFrame(data.subarray(prefixEnd, end))
      at = end
    }
  }
}

function endOfPrefix(data: Uint8Array, start: number): number | undefined {
  for (let at = start; at < data.length; at++) {
    if (at - start >= PREFIX_BYTES_MAX) throw new RangeError('a frame length is not a valid varint')
    if (((data[at] ?? 0) & CONTINUES) === 0) return at + 1
  }
  return undefined
}
