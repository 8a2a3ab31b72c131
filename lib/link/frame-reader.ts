import { decode, encodingLength } from 'uint8-varint'
import { Uint8ArrayList } from 'uint8arraylist'
import { FRAME_BYTES_MAX } from '../base/limits/link.ts'

const PREFIX_BYTES_MAX = encodingLength(FRAME_BYTES_MAX)
const CONTINUES = 0x80

/**
 * Splits a byte stream into frames, each prefixed with its length as an unsigned varint. A frame within one chunk, the
 * usual case on a busy link, is a view without copying.
 */
export class FrameReader {
  /** The received part of a frame. A list joins small parts, because each chunk may be one byte. */
  readonly #held = new Uint8ArrayList()
  /** Bytes to wait for before the next parse, so that chunks of a large frame are joined once. */
  #wanted = 1

  /** @throws RangeError when a frame announces more than `FRAME_BYTES_MAX`; the stream is unusable afterwards */
  push(chunk: Uint8Array, onFrame: (frame: Uint8Array) => void): void {
    let data = chunk
    if (this.#held.byteLength > 0 || chunk.length < this.#wanted) {
      this.#held.append(chunk)
      if (this.#held.byteLength < this.#wanted) return
      data = this.#held.subarray()
      this.#held.consume(data.length)
    }
    const taken = this.#cut(data, onFrame)
    if (taken < data.length) this.#held.append(data.subarray(taken))
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
