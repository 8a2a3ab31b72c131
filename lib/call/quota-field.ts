import type { Reader } from 'protons-runtime'
import type { Quota } from '../interface/subscription.ts'
import { endOfMessage, knownField, readNumber, VARINT, writeNumber } from './frame-fields.ts'
import type { MessageBytes } from './message-bytes.ts'

/** `souk.call.v1.Quota`. */

const FIELDS = { 1: VARINT, 2: VARINT, 3: VARINT, 4: VARINT } as const

export function writeQuota(w: MessageBytes, field: number, quota: Quota | undefined): void {
  if (quota === undefined) return
  w.message(field, (message) => {
    // Explicit presence: 0 differs from no limit.
    if (quota.included !== undefined) message.number(1, quota.included)
    writeNumber(message, 2, quota.used)
    if (quota.limit !== undefined) message.number(3, quota.limit)
    writeNumber(message, 4, quota.resetsAt)
  })
}

export function readQuota(r: Reader, limit: number): Quota {
  const end = endOfMessage(r, limit)
  const quota: { -readonly [K in keyof Quota]: Quota[K] } = { used: 0, resetsAt: 0 }
  while (r.pos < end) {
    const field = knownField(r, FIELDS)
    switch (field) {
      case 1:
        quota.included = readNumber(r)
        break
      case 2:
        quota.used = readNumber(r)
        break
      case 3:
        quota.limit = readNumber(r)
        break
      case 4:
        quota.resetsAt = readNumber(r)
        break
    }
  }
  if (r.pos !== end) throw new RangeError('a field is longer than its message')
  return quota
}
