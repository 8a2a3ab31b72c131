import type { SelectFn, ValidateFn } from '@libp2p/kad-dht'
import { equals } from 'uint8arrays/equals'
import type { ApiId } from '../base/api-name.ts'
import { sha256 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { RECORD_SEQ_MARKS_MAX } from '../base/limits.ts'
import { boundedMap } from './bounded-map.ts'
import { parseRecordKey } from './keys.ts'
import { seqOf, verifyRecord } from './record.ts'

/** How a DHT node judges what others ask it to keep, and what others hand it. */
export interface RecordRules {
  /** @throws SoukError `invalid_request` */
  readonly validate: ValidateFn
  /** The highest sequence number wins. */
  readonly select: SelectFn
}

/**
 * Rules with high-water marks of their own: kad-dht itself lets any valid record overwrite any other, so an old one that
 * has not expired could be replayed over its successor.
 */
export function createRecordRules(clock: Clock): RecordRules {
  const marks = boundedMap<ApiId, { seq: bigint; hash: Uint8Array }>(RECORD_SEQ_MARKS_MAX)

  return {
    async validate(key, value) {
      const id = parseRecordKey(key)
      if (id === undefined) throw new SoukError('invalid_request', 'The key names no API.')
      const { record } = await verifyRecord(value, { now: clock.now(), id })
      const hash = sha256(value)
      const mark = marks.get(id)
      if (mark !== undefined && record.seq < mark.seq) {
        throw new SoukError('invalid_request', 'The record is older than one seen before.')
      }
      if (mark !== undefined && record.seq === mark.seq && !equals(mark.hash, hash)) {
        throw new SoukError('invalid_request', 'Another record with this sequence number was seen before.')
      }
      marks.set(id, { seq: record.seq, hash })
    },

    select(_key, records) {
      const seqs = records.map(seqOf)
      return seqs.reduce((best, seq, index) => (seq > (seqs[best] ?? -1n) ? index : best), 0)
    }
  }
}
