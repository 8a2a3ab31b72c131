import { latin1 } from './bytes.ts'
import type { Clock } from './clock.ts'
import { REQUEST_ID_BACK_MS } from './limits/store.ts'
import type { Random } from './random.ts'

/**
 * Time-ordered request ids: UUID version 7 (RFC 9562 §5.7, method 1 of §6.2: a 12-bit counter after the milliseconds).
 * Ids of one process sort in order of creation, so that stored calls are append-only on disk.
 */
export interface RequestIds {
  /** Sixteen new bytes. */
  next(): Uint8Array
}

export const REQUEST_ID_BYTES = 16

const COUNTER_MAX = 0xfff
/** Ids that share a buffer, because a buffer takes more memory than an id. Few, because one id keeps the whole buffer in memory. */
const IDS_PER_BUFFER = 64

export function requestIds(clock: Clock, random: Random): RequestIds {
  // Random bytes come from a pool: one call of the generator per id would cost more than the id.
  const pool = new Uint8Array(4096)
  let used = pool.length
  let ids = new Uint8Array(0)
  let made = 0
  let lastMs = 0
  let counter = 0

  return {
    next() {
      // Rounded down, so that the counter restarts only once per millisecond.
      const nowMs = Math.floor(clock.now())
      // After a clock was wrong by more, owners would refuse ids that still increase.
      if (nowMs > lastMs || nowMs < lastMs - REQUEST_ID_BACK_MS) {
        lastMs = nowMs
        counter = 0
      } else if (++counter > COUNTER_MAX) {
        lastMs++
        counter = 0
      }
      if (used === pool.length) {
        random.fill(pool)
        used = 0
      }
      if (made === ids.length) {
        ids = new Uint8Array(IDS_PER_BUFFER * REQUEST_ID_BYTES)
        made = 0
      }
      const id = ids.subarray(made, (made += REQUEST_ID_BYTES))
      // Byte by byte: a `DataView` for each id would take more memory than the id.
      const high = Math.floor(lastMs / 0x10000)
      id[0] = high >>> 24
      id[1] = high >>> 16
      id[2] = high >>> 8
      id[3] = high
      id[4] = lastMs / 0x100
      id[5] = lastMs
      id[6] = 0x70 | (counter >>> 8)
      id[7] = counter
      for (let at = 8; at < REQUEST_ID_BYTES; at++) id[at] = pool[used++] ?? 0
      id[8] = 0x80 | ((id[8] ?? 0) & 0x3f)
      return id
    }
  }
}

const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** Whether the text is a version 7 UUID in the form of `formatRequestId`. */
export function isRequestId(text: string): boolean {
  return UUID_V7.test(text)
}

/** Whether the bytes are a version 7 UUID. */
export function isRequestIdBytes(id: Uint8Array): boolean {
  return id.length === REQUEST_ID_BYTES && (id[6] ?? 0) >> 4 === 7 && (id[8] ?? 0) >> 6 === 0b10
}

/** The sixteen bytes of a `formatRequestId` text. */
export function requestIdBytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll('-', ''), 'hex'))
}

/** Creation time of an id by its creator's clock, milliseconds since the epoch. */
export function madeAt(id: Uint8Array): number {
  let ms = 0
  for (let i = 0; i < 6; i++) ms = ms * 0x100 + (id[i] ?? 0)
  return ms
}

/** The lowest id of a time. Ids created earlier sort before it. */
export function idOfTime(ms: number): Uint8Array {
  const id = new Uint8Array(REQUEST_ID_BYTES)
  const whole = Math.max(0, Math.floor(ms))
  const view = new DataView(id.buffer)
  view.setUint32(0, Math.floor(whole / 0x10000))
  view.setUint16(4, whole % 0x10000)
  return id
}

/** ASCII codes of the hexadecimal digits. */
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
const HYPHEN = '-'.charCodeAt(0)
/** Reused, because the parts of a joined text would take ten times the memory of the text. */
const formatted = Buffer.alloc(36, HYPHEN)

/** `018f…-…`: the usual hyphenated form. */
export function formatRequestId(id: Uint8Array): string {
  let at = 0
  for (let i = 0; i < REQUEST_ID_BYTES; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) at++
    const byte = id[i] ?? 0
    formatted[at++] = DIGITS[byte >> 4] ?? 0
    formatted[at++] = DIGITS[byte & 0xf] ?? 0
  }
  return latin1(formatted)
}
