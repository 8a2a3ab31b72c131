import type { SelectFn, ValidateFn } from '@libp2p/kad-dht'
import { equals } from 'uint8arrays/equals'
import type { ApiId } from '../../base/api-name.ts'
import { boundedMap } from '../../base/bounded-map.ts'
import { sha256 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { RECORD_SEQ_MARKS_MAX } from '../../base/limits/directory.ts'
import { parseRecordKey } from './keys.ts'
import { seqOf, verifyRecord } from './record.ts'

/** How a DHT node validates records that peers store, and records that lookups return. */
export interface RecordRules {
  /** @throws SoukError `invalid_request` */
  readonly validate: ValidateFn
  /** The highest sequence number wins. */
  readonly select: SelectFn
}

/**
 * Rules that remember the highest sequence numbers. kad-dht lets any valid record replace another, so an older
 * unexpired record could be replayed.
 */
export function createRecordRules(clock: Clock): RecordRules {
  const marks = boundedMap<ApiId, { seq: bigint; hash: Uint8Array }>(RECORD_SEQ_MARKS_MAX)

  return {
    async validate(key, value) {
      const id = parseRecordKey(key)
      if (id === undefined) throw new SoukError('invalid_request', 'The key does not name an API.')
      const { record } = await verifyRecord(value, { now: clock.now(), id })
      const hash = sha256(value)
      const mark = marks.get(id)
      if (mark !== undefined && record.seq < mark.seq) {
        throw new SoukError('invalid_request', 'The record is older than one seen before.')
      }
      if (mark !== undefined && record.seq === mark.seq && !equals(mark.hash, hash)) {
        throw new SoukError('invalid_request', 'A different record with this sequence number was seen before.')
      }
      marks.set(id, { seq: record.seq, hash })
    },

    select(_key, records) {
      const seqs = records.map(seqOf)
      return seqs.reduce((best, seq, index) => (seq > (seqs[best] ?? -1n) ? index : best), 0)
    }
  }
}
