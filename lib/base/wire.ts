import { type Codec, message, type Reader, type Writer } from 'protons-runtime'

/** A hand-written protobuf message. `read` reads one field by its full tag, and returns false for an unknown field. */
export interface MessageShape<T> {
  write(value: T, writer: Writer): void
  start(): T
  read(value: T, tag: number, reader: Reader): boolean
}

/** A tag as encoded: field number and wire type together. A field with another wire type counts as unknown. */
export const varintTag = (field: number): number => field << 3
export const bytesTag = (field: number): number => (field << 3) | 2

/**
 * Deterministic codec: fields in ascending order, default values omitted, unknown fields skipped. Decoding throws when
 * the bytes end inside a field.
 */
export function codec<T>(shape: MessageShape<T>): Codec<T, T> {
  return message<T, T>(
    (value, writer, options = {}) => {
      if (options.lengthDelimited !== false) writer.fork()
      shape.write(value, writer)
      if (options.lengthDelimited !== false) writer.ldelim()
    },
    (reader, length) => {
      const end = length === undefined ? reader.len : reader.pos + length
      if (end > reader.len) throw new RangeError('The message is longer than its bytes.')
      const value = shape.start()
      while (reader.pos < end) {
        const tag = reader.uint32()
        if (!shape.read(value, tag, reader)) reader.skipType(tag & 7)
      }
      if (reader.pos !== end) throw new RangeError('A field is longer than its message.')
      return value
    },
    // oxlint-disable-next-line require-yield -- Souk's messages are decoded whole, never field by field.
    function* () {
      throw new Error('Souk messages are decoded whole.')
    }
  )
}

/** Reads a varint that a JavaScript number can represent exactly. */
export function readSafeInteger(reader: Reader): number {
  const value = reader.uint64Number()
  if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('The number is too large.')
  return value
}

export function writeText(writer: Writer, field: number, value: string): void {
  if (value !== '') writer.uint32(bytesTag(field)).string(value)
}

export function writeBytes(writer: Writer, field: number, value: Uint8Array): void {
  if (value.length > 0) writer.uint32(bytesTag(field)).bytes(value)
}

export function writeInteger(writer: Writer, field: number, value: number | bigint): void {
  // Numbers are written several times faster than bigints.
  const number = Number(value)
  if (number === 0) return
  const tagged = writer.uint32(varintTag(field))
  if (number <= Number.MAX_SAFE_INTEGER) tagged.uint64Number(number)
  else tagged.uint64(BigInt(value))
}

/** Appends to a repeated field of at most `max` items. */
export function append<T>(list: T[], value: T, max: number): true {
  if (list.length >= max) throw new RangeError('A list is too long.')
  list.push(value)
  return true
}
