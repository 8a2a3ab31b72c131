import type { Reader } from 'protons-runtime'
import type { Headers } from '../interface/payload.ts'
import type { RateLimitStatus } from '../interface/rate.ts'
import type { MessageBytes } from './message-bytes.ts'

/** Readers and writers of protobuf fields. proto3 default values are omitted. */

export const VARINT = 0
export const BYTES = 2
export const tag = (field: number, wireType: number): number => (field << 3) | wireType

export function writeNumber(w: MessageBytes, field: number, value: number): void {
  if (value !== 0) w.number(field, value)
}

export function writeText(w: MessageBytes, field: number, value: string): void {
  if (value !== '') w.text(field, value)
}

/** Writes an `optional` field whenever it is present, even if it is zero or empty. */
export function writeOptionalBytes(w: MessageBytes, field: number, value: Uint8Array | undefined): void {
  if (value !== undefined) w.bytes(field, value)
}

export function writeOptionalText(w: MessageBytes, field: number, value: string | undefined): void {
  if (value !== undefined) w.text(field, value)
}

export function writeHeaders(w: MessageBytes, field: number, headers: Headers): void {
  for (const [name, value] of headers) {
    w.message(field, (header) => {
      writeText(header, 1, name)
      writeText(header, 2, value)
    })
  }
}

export function endOfMessage(r: Reader, limit: number): number {
  const length = r.uint32()
  const end = r.pos + length
  if (end > limit) throw new RangeError('a message is longer than its container')
  return end
}

/**
 * Skips an unknown field, for compatibility with later versions. Rejects groups: proto3 has none, and skipping them
 * would recurse.
 */
export function skip(r: Reader, key: number): void {
  const wireType = key & 7
  if (wireType === 3 || wireType === 4) throw new RangeError('proto3 has no groups')
  r.skipType(wireType)
}

/** Number of the next field. Returns 0 and skips a field that is unknown or has the wrong wire type. */
export function knownField(r: Reader, fields: Readonly<Record<number, number>>): number {
  const key = r.uint32()
  if (fields[key >>> 3] === (key & 7)) return key >>> 3
  skip(r, key)
  return 0
}

/** Reads a varint of up to 53 bits. protons' own reader misreads encodings that are longer than necessary. */
export function readNumber(r: Reader): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = r.buf[r.pos++]
    if (byte === undefined) throw new RangeError('a number is longer than its frame')
    value += (byte & 127) * scale
    if (value > Number.MAX_SAFE_INTEGER || scale > Number.MAX_SAFE_INTEGER)
      throw new RangeError('a number is too large')
    if (byte < 128) return value
  }
}

/** Node's native decoder. Its types do not declare it. */
const { utf8Slice } = Buffer.prototype as unknown as {
  readonly utf8Slice: (this: Uint8Array, from: number, to: number) => string
}

/** Reads a text. protons decodes UTF-8 in JavaScript, which costs more than the rest of a small frame. */
export function readText(r: Reader): string {
  const length = r.uint32()
  const start = r.pos
  if (start + length > r.len) throw new RangeError('a text is longer than its frame')
  r.pos = start + length
  return utf8Slice.call(r.buf, start, r.pos)
}

export function readHeader(r: Reader, limit: number): [string, string] {
  const header: [string, string] = ['', '']
  const end = endOfMessage(r, limit)
  while (r.pos < end) {
    const key = r.uint32()
    if (key === tag(1, BYTES)) header[0] = readText(r)
    else if (key === tag(2, BYTES)) header[1] = readText(r)
    else skip(r, key)
  }
  if (r.pos !== end) throw new RangeError('a field is longer than its header')
  return header
}

export function writeRate(w: MessageBytes, field: number, rate: RateLimitStatus): void {
  w.message(field, (message) => {
    writeText(message, 1, rate.policy)
    writeNumber(message, 2, rate.calls)
    writeNumber(message, 3, rate.perMs)
    writeNumber(message, 4, rate.remaining)
    writeNumber(message, 5, rate.resetMs)
  })
}

export function readRate(r: Reader, limit: number): RateLimitStatus {
  const rate = { policy: '', calls: 0, perMs: 0, remaining: 0, resetMs: 0 }
  const end = endOfMessage(r, limit)
  while (r.pos < end) {
    const key = r.uint32()
    if (key === tag(1, BYTES)) rate.policy = readText(r)
    else if (key === tag(2, VARINT)) rate.calls = readNumber(r)
    else if (key === tag(3, VARINT)) rate.perMs = readNumber(r)
    else if (key === tag(4, VARINT)) rate.remaining = readNumber(r)
    else if (key === tag(5, VARINT)) rate.resetMs = readNumber(r)
    else skip(r, key)
  }
  if (r.pos !== end) throw new RangeError('a field is longer than its message')
  return rate
}
