import type { PrivateKey } from '@libp2p/interface'
import { type ApiId, isApiName, isProviderId } from '../../base/api-name.ts'
import { CLOCK_SKEW_MS, DELEGATIONS_MAX, RECORD_BYTES_MAX, RECORD_TTL_MS_MAX } from '../../base/limits/directory.ts'
import { bool, bytes, list, nonEmpty, text, uint53, uint64 } from '../../base/wire/field.ts'
import { message, type MessageOf } from '../../base/wire/message.ts'
import type { DirectoryRecord } from '../../interface/directory.ts'
import type { Delegation } from '../../interface/manifest.ts'
import { mayServe, verifyDelegation } from './delegation.ts'
import { envelopeKind, open, payloadOf, refusal, seal } from './envelope.ts'
import { splitId } from './keys.ts'
const RECORD = envelopeKind('record', RECORD_BYTES_MAX)
const HASH_BYTES = 32

export const RECORD_MESSAGE = message(
  'Record',
  `Directory record: the value under /souk/<provider id>/<name> in the DHT. Signed by the provider key, or by a node
  whose delegation is inside and has not expired.`,
  {
    id: text(1, 'name@provider, the API of the key.'),
    seq: uint64(
      2,
      `Increases with every new record of this id. Milliseconds since the epoch, or one above the last where that is
      higher. More than five minutes ahead of the reader's clock is refused. The same number with other bytes is refused.`
    ),
    issuedAt: uint53(3, 'At most five minutes ahead of the reader’s clock.'),
    expiresAt: uint53(4, 'At most 24 hours after issued_at; 2 hours by default.'),
    manifestHash: bytes(5, 'SHA-256 of the manifest’s envelope.'),
    revision: uint53(6, 'Revision of that manifest.'),
    delegations: list(
      bytes(7, 'Envelopes over souk.Delegation, signed by the provider key, at most 8.'),
      DELEGATIONS_MAX
    ),
    network: nonEmpty(
      text(
        8,
        'In announcements and in the catalogue exchange: the network of the record. Another one is refused there.'
      )
    ),
    isWithdrawn: nonEmpty(
      bool(9, 'In the same: the API is no longer served. Counts only if the provider key itself signed.')
    )
  }
)
type RecordMessage = MessageOf<typeof RECORD_MESSAGE>

/** A valid record, its signer and its signed bytes. */
export interface VerifiedRecord {
  readonly record: DirectoryRecord
  readonly signer: string
  readonly bytes: Uint8Array
}

/**
 * Signs with the provider key, or with the key of a node whose delegation is in the record.
 * @throws SoukError `invalid_request` when it is larger than `RECORD_BYTES_MAX`
 */
export function signRecord(record: DirectoryRecord, key: PrivateKey): Promise<Uint8Array> {
  const delegations = record.delegations.map(({ envelope }) => envelope)
  return seal(RECORD, RECORD_MESSAGE.encode({ ...record, delegations }), key)
}

/**
 * Checks a record on its own: size, signer, id, times, delegations. `record.delegations` contains only unexpired ones.
 * @throws SoukError `invalid_request`
 */
export async function verifyRecord(
  bytes: Uint8Array,
  expected: { readonly now: number; readonly id?: ApiId }
): Promise<VerifiedRecord> {
  const { now } = expected
  const { signer, payload } = await open(RECORD, bytes)
  const decoded = decode(payload)
  const id = decoded.id as ApiId
  const { name, provider } = splitId(id)
  if (!isApiName(name) || !isProviderId(provider)) throw refusal(RECORD, 'does not name an API')
  if (expected.id !== undefined && expected.id !== id) throw refusal(RECORD, 'belongs to another API')
  checkTimes(decoded, now)
  if (decoded.manifestHash.length !== HASH_BYTES) throw refusal(RECORD, 'has no manifest hash')
  if (decoded.revision < 1) throw refusal(RECORD, 'has no revision')
  const delegations: Delegation[] = []
  for (const envelope of decoded.delegations) {
    const delegation = await verifyDelegation(envelope, provider)
    if (delegation.expiresAt > now) delegations.push(delegation)
  }
  if (!mayServe(signer, provider, delegations, now)) throw refusal(RECORD, 'was signed by a key without permission')
  return { record: { ...decoded, id, delegations }, signer, bytes }
}

/** Decodes a record without any check. @throws any error of the decoder */
export function peekRecord(bytes: Uint8Array): Omit<RecordMessage, 'delegations'> {
  return RECORD_MESSAGE.decode(payloadOf(bytes))
}

/** The sequence number of a verified record. */
export function seqOf(bytes: Uint8Array): bigint {
  return RECORD_MESSAGE.decode(payloadOf(bytes)).seq
}

function decode(payload: Uint8Array): RecordMessage {
  try {
    return RECORD_MESSAGE.decode(payload)
  } catch (error) {
    throw refusal(RECORD, 'cannot be read', error)
  }
}

function checkTimes({ seq, issuedAt, expiresAt }: RecordMessage, now: number): void {
  if (issuedAt > now + CLOCK_SKEW_MS) throw refusal(RECORD, 'is from the future')
  if (expiresAt <= now) throw refusal(RECORD, 'has expired')
  if (expiresAt - issuedAt > RECORD_TTL_MS_MAX) throw refusal(RECORD, 'is valid for too long')
  // Sequence numbers are timestamps. Otherwise a malicious delegated node could use the highest number and lock its
  // provider out.
  if (seq < 1n || seq > BigInt(now + CLOCK_SKEW_MS)) throw refusal(RECORD, 'has a sequence number out of range')
}
