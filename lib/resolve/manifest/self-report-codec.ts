import { codec, readSafeInteger, varintTag, writeInteger } from '../../base/wire.ts'
import type { SelfReport } from '../../interface/manifest.ts'

/** `souk.SelfReport` of `docs/reference/souk-directory.proto`. */
export const selfReportCodec = codec<{ -readonly [K in keyof SelfReport]: SelfReport[K] }>({
  start: () => ({ until: 0, days: 0, calls: 0, goodPerMille: 0 }),
  write(value, writer) {
    writeInteger(writer, 1, value.until)
    writeInteger(writer, 2, value.days)
    writeInteger(writer, 3, value.calls)
    writeInteger(writer, 4, value.goodPerMille)
    writeInteger(writer, 5, value.p50Ms ?? 0)
    writeInteger(writer, 6, value.p95Ms ?? 0)
  },
  read(value, tag, reader) {
    if (tag === varintTag(1)) value.until = readSafeInteger(reader)
    else if (tag === varintTag(2)) value.days = readSafeInteger(reader)
    else if (tag === varintTag(3)) value.calls = readSafeInteger(reader)
    else if (tag === varintTag(4)) value.goodPerMille = readSafeInteger(reader)
    else if (tag === varintTag(5)) value.p50Ms = readSafeInteger(reader)
    else if (tag === varintTag(6)) value.p95Ms = readSafeInteger(reader)
    else return false
    return true
  }
})
