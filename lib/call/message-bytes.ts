const VARINT = 0
const BYTES = 2
/** Space before the first field for the message's key (one byte) and length. */
const ROOM_FOR_PREFIX = 6
/** Texts up to this length are tried as ASCII, because their length then takes one byte. */
const SHORT_CHARS = 0x7f
const UTF8_BYTES_PER_CHAR = 3

/**
 * Writes one protobuf message into one buffer, with fields in the given order. protons' writer builds a list of
 * operations instead, which costs half of encoding a small call.
 */
export class MessageBytes {
  #bytes: Buffer
  #at = ROOM_FOR_PREFIX

  /** @param roomBytes - expected size; a larger message costs a copy */
  constructor(roomBytes: number) {
    this.#bytes = Buffer.allocUnsafe(ROOM_FOR_PREFIX + roomBytes)
  }

  number(field: number, value: number): void {
    this.#room(12)
    this.#varint((field << 3) | VARINT)
    this.#varint(value)
  }

  /** 64-bit varint. */
  bigint(field: number, value: bigint): void {
    this.#room(12)
    this.#varint((field << 3) | VARINT)
    let rest = value
    while (rest > 0x7fn) {
      this.#byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.#byte(Number(rest))
  }

  bytes(field: number, value: Uint8Array): void {
    this.#room(7 + value.length)
    this.#varint((field << 3) | BYTES)
    this.#varint(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  text(field: number, value: string): void {
    this.#room(7 + value.length * UTF8_BYTES_PER_CHAR)
    this.#varint((field << 3) | BYTES)
    if (value.length <= SHORT_CHARS && this.#ascii(value)) return
    this.#varint(Buffer.byteLength(value))
    this.#at += this.#bytes.write(value, this.#at)
  }

  /** A nested message. */
  message(field: number, write: (inner: MessageBytes) => void): void {
    const inner = new MessageBytes(128)
    write(inner)
    this.bytes(field, inner.#bytes.subarray(ROOM_FOR_PREFIX, inner.#at))
  }

  /** Returns the finished message as field `field` of its container. Write nothing afterwards. */
  finish(field: number): Uint8Array {
    const end = this.#at
    const length = end - ROOM_FOR_PREFIX
    let start = ROOM_FOR_PREFIX - 2
    for (let rest = length; rest > 0x7f; rest >>>= 7) start--
    this.#at = start
    this.#varint((field << 3) | BYTES)
    this.#varint(length)
    const { buffer, byteOffset } = this.#bytes
    return new Uint8Array(buffer, byteOffset + start, end - start)
  }

  #byte(value: number): void {
    this.#bytes[this.#at++] = value
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#byte((rest % 0x80) | 0x80)
      rest = Math.floor(rest / 0x80)
    }
    this.#byte(rest)
  }

  /** Writes length and characters if all of them are ASCII. */
  #ascii(value: string): boolean {
    const start = this.#at + 1
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      this.#bytes[start + i] = code
    }
    this.#byte(value.length)
    this.#at += value.length
    return true
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes))
    larger.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = larger
  }
}
