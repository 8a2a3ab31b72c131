/** Space before the first field, for the key (one byte) and length of a frame's kind. */
const ROOM_FOR_PREFIX = 6
/** Texts up to this length are tried as ASCII, because their length then takes one byte. */
const SHORT_CHARS = 0x7f
const UTF8_BYTES_PER_CHAR = 3
const LENGTH_BYTES_MAX = 5
const KEY_AND_NUMBER_BYTES_MAX = 15

/** Writes the fields of one Protocol Buffers message into one buffer, in the order of the calls. */
export class WireWriter {
  #bytes: Buffer
  #at = ROOM_FOR_PREFIX

  /** @param roomBytes - expected size; a larger message costs a copy */
  constructor(roomBytes: number) {
    this.#bytes = Buffer.allocUnsafe(ROOM_FOR_PREFIX + roomBytes)
  }

  number(key: number, value: number): void {
    this.#room(KEY_AND_NUMBER_BYTES_MAX)
    this.#varint(key)
    this.#varint(value)
  }

  bigint(key: number, value: bigint): void {
    this.#room(KEY_AND_NUMBER_BYTES_MAX)
    this.#varint(key)
    let rest = value
    while (rest > Number.MAX_SAFE_INTEGER) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#varint(Number(rest))
  }

  bytes(key: number, value: Uint8Array): void {
    this.#room(KEY_AND_NUMBER_BYTES_MAX + value.length)
    this.#varint(key)
    this.#varint(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  text(key: number, value: string): void {
    this.#room(KEY_AND_NUMBER_BYTES_MAX + value.length * UTF8_BYTES_PER_CHAR)
    this.#varint(key)
    if (value.length <= SHORT_CHARS && this.#ascii(value)) return
    this.#varint(Buffer.byteLength(value))
    this.#at += this.#bytes.write(value, this.#at)
  }

  /** Starts a nested message. Pass the result to `close` after its last field. */
  open(key: number): number {
    this.#room(KEY_AND_NUMBER_BYTES_MAX)
    this.#varint(key)
    // Most nested messages are short, so their length takes one byte.
    return ++this.#at
  }

  close(start: number): void {
    const end = this.#at
    const length = end - start
    if (length > 0x7f) {
      this.#room(LENGTH_BYTES_MAX)
      const more = lengthBytes(length) - 1
      this.#bytes.copyWithin(start + more, start, end)
    }
    this.#at = start - 1
    this.#varint(length)
    this.#at += length
  }

  /** The message. Write nothing afterwards. */
  finish(): Uint8Array {
    return this.#view(ROOM_FOR_PREFIX)
  }

  /** The message as a field of a container that has no other. Write nothing afterwards. */
  finishAs(key: number): Uint8Array {
    const end = this.#at
    const length = end - ROOM_FOR_PREFIX
    const start = ROOM_FOR_PREFIX - 1 - lengthBytes(length)
    this.#at = start
    this.#varint(key)
    this.#varint(length)
    this.#at = end
    return this.#view(start)
  }

  #view(start: number): Uint8Array {
    const { buffer, byteOffset } = this.#bytes
    return new Uint8Array(buffer, byteOffset + start, this.#at - start)
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#at++] = rest
  }

  /** Writes length and characters if all of them are ASCII. */
  #ascii(value: string): boolean {
    const start = this.#at + 1
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      this.#bytes[start + i] = code
    }
    this.#bytes[this.#at++] = value.length
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

function lengthBytes(length: number): number {
  let bytes = 1
  for (let rest = length; rest > 0x7f; rest >>>= 7) bytes++
  return bytes
}
