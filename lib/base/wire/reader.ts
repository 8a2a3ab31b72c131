import { EMPTY_BYTES } from '../bytes.ts'

/** Node's native decoder. Its types do not declare it. */
const { utf8Slice } = Buffer.prototype as unknown as {
  readonly utf8Slice: (this: Uint8Array, from: number, to: number) => string
}

/** A 64-bit varint has at most this many bytes. */
const VARINT_BYTES_MAX = 10

/** Reads the fields of a Protocol Buffers message. Every method throws a RangeError where the bytes end too early. */
export class WireReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** A varint of up to 53 bits. */
  number(): number {
    // Most numbers of a message are keys and lengths of one byte.
    const first = this.bytes[this.at]
    if (first !== undefined && first < 128) {
      this.at++
      return first
    }
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) throw new RangeError('A number is longer than its message.')
      value += (byte & 127) * scale
      if (value > Number.MAX_SAFE_INTEGER || scale > Number.MAX_SAFE_INTEGER)
        throw new RangeError('A number is too large.')
      if (byte < 128) return value
    }
  }

  /** A varint of up to 64 bits. */
  bigint(): bigint {
    let low = 0
    let high = 0
    for (let i = 0, scale = 1; i < VARINT_BYTES_MAX; i++) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) throw new RangeError('A number is longer than its message.')
      // Seven bytes fit a number exactly. The other three make the rest.
      if (i === 7) scale = 1
      if (i < 7) low += (byte & 127) * scale
      else high += (byte & 127) * scale
      scale *= 128
      if (byte < 128) return high === 0 ? BigInt(low) : BigInt.asUintN(64, (BigInt(high) << 49n) | BigInt(low))
    }
    throw new RangeError('A number is too large.')
  }

  /** Bytes after their length, as a view. */
  slice(): Uint8Array {
    const end = this.end(this.bytes.length)
    if (this.at === end) return EMPTY_BYTES
    const start = this.at
    this.at = end
    return this.bytes.subarray(start, end)
  }

  /** Decodes natively: reading UTF-8 in JavaScript costs more than the rest of a small message. */
  text(): string {
    const end = this.end(this.bytes.length)
    const start = this.at
    this.at = end
    return utf8Slice.call(this.bytes, start, end)
  }

  /** Reads a length. Returns the position where the field ends, which is at most `limit`. */
  end(limit: number): number {
    const length = this.number()
    const end = this.at + length
    if (end > limit) throw new RangeError('A field is longer than its message.')
    return end
  }

  /** Skips an unknown field. Refuses groups: proto3 has none, and to skip them would recurse. */
  skip(key: number): void {
    switch (key & 7) {
      case 0:
        while ((this.bytes[this.at++] ?? outOfBytes()) > 127);
        return
      case 1:
        this.at += 8
        break
      case 2:
        this.at = this.end(this.bytes.length)
        return
      case 5:
        this.at += 4
        break
      default:
        throw new RangeError('A field has an unknown wire type.')
    }
    if (this.at > this.bytes.length) outOfBytes()
  }
}

function outOfBytes(): never {
  throw new RangeError('A field is longer than its message.')
}
