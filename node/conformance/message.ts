import { text, utf8 } from '../../lib/index.ts'

/**
 * Protobuf without types: a message is a list of field numbers and values. The kit has its own small codec, because it also sends
 * invalid messages, and must not share an error with the codec that it judges.
 */
export type Field = readonly [number: number, value: number | bigint | string | Uint8Array]

const VARINT = 0
const BYTES = 2
/** Fields of fixed width are unknown ones, and ignored. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4]
])

export function encodeFields(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number' || typeof value === 'bigint') {
        return [varint(BigInt((number << 3) | VARINT)), varint(BigInt(value))]
      }
      const bytes = typeof value === 'string' ? utf8(value) : value
      return [varint(BigInt((number << 3) | BYTES)), varint(BigInt(bytes.length)), bytes]
    })
  )
}

export function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return Uint8Array.from(bytes)
}

/** The first varint of the bytes. Undefined while it is incomplete. */
export function readVarint(bytes: Uint8Array, at = 0): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    value |= BigInt(byte & 0x7f) << BigInt(7 * (i - at))
    if (byte < 0x80) return { value, end: i + 1 }
  }
  return undefined
}

/** A received message. */
export class Message {
  readonly #fields = new Map<number, Array<bigint | Uint8Array>>()

  /** @throws Error if the bytes are no message of varints and bytes */
  constructor(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; ) {
      const key = expectVarint(bytes, at)
      const width = FIXED.get(Number(key.value & 7n))
      if (width !== undefined) {
        at = key.end + width
        continue
      }
      const value = expectVarint(bytes, key.end)
      at = value.end
      const isBytes = (key.value & 7n) === BigInt(BYTES)
      if (!isBytes && (key.value & 7n) !== BigInt(VARINT)) throw new Error('the message has a field of an unknown type')
      const end = at + (isBytes ? Number(value.value) : 0)
      if (end > bytes.length) throw new Error('a field is longer than its message')
      const values = this.#fields.get(Number(key.value >> 3n)) ?? []
      values.push(isBytes ? bytes.subarray(at, end) : value.value)
      this.#fields.set(Number(key.value >> 3n), values)
      at = end
    }
  }

  has(field: number): boolean {
    return this.#fields.has(field)
  }

  /** The last value of a field, as in proto3. */
  integer(field: number): bigint {
    const value = this.#fields.get(field)?.at(-1) ?? 0n
    return typeof value === 'bigint' ? value : 0n
  }

  bytes(field: number): Uint8Array {
    const value = this.#fields.get(field)?.at(-1)
    return value instanceof Uint8Array ? value : new Uint8Array(0)
  }

  text(field: number): string {
    return text(this.bytes(field))
  }
}

function expectVarint(bytes: Uint8Array, at: number): { readonly value: bigint; readonly end: number } {
  const read = readVarint(bytes, at)
  if (read === undefined) throw new Error('a number ends with its message')
  return read
}
