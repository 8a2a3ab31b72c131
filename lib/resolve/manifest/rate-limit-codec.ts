import { codec, readSafeInteger, varintTag, writeInteger } from '../../base/wire.ts'

/** `souk.RateLimit` of `docs/reference/souk-directory.proto`. */
export const rateLimitCodec = codec<{ calls: number; perMs: number; burst?: number }>({
  start: () => ({ calls: 0, perMs: 0 }),
  write({ calls, perMs, burst }, writer) {
    writeInteger(writer, 1, calls)
    writeInteger(writer, 2, perMs)
    if (burst !== undefined) writeInteger(writer, 3, burst)
  },
  read(value, tag, reader) {
    if (tag === varintTag(1)) value.calls = readSafeInteger(reader)
    else if (tag === varintTag(2)) value.perMs = readSafeInteger(reader)
    else if (tag === varintTag(3)) value.burst = readSafeInteger(reader)
    else return false
    return true
  }
})
