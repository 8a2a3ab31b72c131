import { PLAN_TIERS_MAX } from '../../base/limits/plans.ts'
import { append, bytesTag, codec, readSafeInteger, varintTag, writeInteger, writeText } from '../../base/wire.ts'
import type { ApiId } from '../../base/api-name.ts'
import type { Deprecation } from '../../interface/manifest.ts'
import { rateLimitCodec } from './rate-limit-codec.ts'
import type { Period, Plan, Tier } from '../../interface/plan.ts'

/** `souk.Plan`, `souk.Tier` and `souk.Deprecation` of `docs/reference/souk-directory.proto`. */

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const tierCodec = codec<Mutable<Tier>>({
  start: () => ({ price: 0n }),
  write(value, writer) {
    writeInteger(writer, 1, value.upTo ?? 0)
    writeInteger(writer, 2, value.price)
  },
  read(value, tag, reader) {
    if (tag === varintTag(1)) value.upTo = readSafeInteger(reader)
    else if (tag === varintTag(2)) value.price = reader.uint64()
    else return false
    return true
  }
})

type PlanMessage = Mutable<Plan> & { overage: Tier[] }

export const planCodec = codec<PlanMessage>({
  start: () => ({ id: '', name: '', fee: 0n, period: '' as Period, trialDays: 0, overage: [], since: 0 }),
  write(value, writer) {
    writeText(writer, 1, value.id)
    writeText(writer, 2, value.name)
    if (value.description !== undefined) writer.uint32(bytesTag(3)).string(value.description)
    writeInteger(writer, 4, value.fee)
    writeText(writer, 5, value.period)
    writeInteger(writer, 6, value.trialDays)
    // Explicit presence: 0 included calls differ from unlimited calls.
    if (value.included !== undefined) writer.uint32(varintTag(7)).uint64Number(value.included)
    for (const tier of value.overage) {
      writer.uint32(bytesTag(8))
      tierCodec.encode(tier, writer)
    }
    writeInteger(writer, 9, value.since)
    writeInteger(writer, 10, value.closedAt ?? 0)
    if (value.rateLimit !== undefined) {
      writer.uint32(bytesTag(11))
      rateLimitCodec.encode(value.rateLimit, writer)
    }
    writeInteger(writer, 12, value.inFlightMax ?? 0)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.id = reader.string()
    else if (tag === bytesTag(2)) value.name = reader.string()
    else if (tag === bytesTag(3)) value.description = reader.string()
    else if (tag === varintTag(4)) value.fee = reader.uint64()
    else if (tag === bytesTag(5)) value.period = reader.string() as Period
    else if (tag === varintTag(6)) value.trialDays = readSafeInteger(reader)
    else if (tag === varintTag(7)) value.included = readSafeInteger(reader)
    else if (tag === bytesTag(8)) append(value.overage, tierCodec.decode(reader, reader.uint32()), PLAN_TIERS_MAX)
    else if (tag === varintTag(9)) value.since = readSafeInteger(reader)
    else if (tag === varintTag(10)) value.closedAt = readSafeInteger(reader)
    else if (tag === bytesTag(11)) value.rateLimit = rateLimitCodec.decode(reader, reader.uint32())
    else if (tag === varintTag(12)) value.inFlightMax = readSafeInteger(reader)
    else return false
    return true
  }
})

export const deprecationCodec = codec<Mutable<Deprecation>>({
  start: () => ({ at: 0, sunsetAt: 0 }),
  write(value, writer) {
    writeInteger(writer, 1, value.at)
    writeInteger(writer, 2, value.sunsetAt)
    if (value.successor !== undefined) writer.uint32(bytesTag(3)).string(value.successor)
    if (value.link !== undefined) writer.uint32(bytesTag(4)).string(value.link)
  },
  read(value, tag, reader) {
    if (tag === varintTag(1)) value.at = readSafeInteger(reader)
    else if (tag === varintTag(2)) value.sunsetAt = readSafeInteger(reader)
    else if (tag === bytesTag(3)) value.successor = reader.string() as ApiId
    else if (tag === bytesTag(4)) value.link = reader.string()
    else return false
    return true
  }
})
