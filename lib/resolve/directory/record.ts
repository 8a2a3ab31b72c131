import type { PrivateKey } from '@libp2p/interface'
import { decodeMessage, encodeMessage } from 'protons-runtime'
import { type ApiId, isApiName, isProviderId } from '../../base/api-name.ts'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { CLOCK_SKEW_MS, DELEGATIONS_MAX, RECORD_BYTES_MAX, RECORD_TTL_MS_MAX } from '../../base/limits/directory.ts'
import type { DirectoryRecord } from '../../interface/directory.ts'
import type { Delegation } from '../../interface/manifest.ts'
import { mayServe, verifyDelegation } from './delegation.ts'
import { envelopeKind, open, payloadOf, refusal, seal } from './envelope.ts'
import { splitId } from './keys.ts'
import {
  append,
  bytesTag,
  codec,
  readSafeInteger,
  varintTag,
  writeBytes,
  writeInteger,
  writeText
} from '../../base/wire.ts'

const RECORD = envelopeKind('record', RECORD_BYTES_MAX)
const HASH_BYTES = 32

/** `souk.Record` of `docs/reference/souk-directory.proto`. */
interface RecordMessage {
  id: string
  seq: bigint
  issuedAt: number
  expiresAt: number
  manifestHash: Uint8Array
  revision: number
  delegations: Uint8Array[]
  /** In announcements only. */
  network?: string
  isWithdrawn?: boolean
}

export const recordCodec = codec<RecordMessage>({
  start: () => ({
    id: '',
    seq: 0n,
    issuedAt: 0,
    expiresAt: 0,
    manifestHash: EMPTY_BYTES,
    revision: 0,
    delegations: []
  }),
  write(value, writer) {
    writeText(writer, 1, value.id)
    writeInteger(writer, 2, value.seq)
    writeInteger(writer, 3, value.issuedAt)
    writeInteger(writer, 4, value.expiresAt)
    writeBytes(writer, 5, value.manifestHash)
    writeInteger(writer, 6, value.revision)
    for (const delegation of value.delegations) writer.uint32(bytesTag(7)).bytes(delegation)
    writeText(writer, 8, value.network ?? '')
    if (value.isWithdrawn === true) writer.uint32(varintTag(9)).bool(true)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.id = reader.string()
    else if (tag === varintTag(2)) value.seq = reader.uint64()
    else if (tag === varintTag(3)) value.issuedAt = readSafeInteger(reader)
    else if (tag === varintTag(4)) value.expiresAt = readSafeInteger(reader)
    else if (tag === bytesTag(5)) value.manifestHash = reader.bytes()
    else if (tag === varintTag(6)) value.revision = readSafeInteger(reader)
    else if (tag === bytesTag(7)) append(value.delegations, reader.bytes(), DELEGATIONS_MAX)
    else if (tag === bytesTag(8)) value.network = reader.string()
    else if (tag === varintTag(9)) value.isWithdrawn = reader.bool()
    else return false
    return true
  }
})

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
  return seal(RECORD, encodeMessage({ ...record, delegations }, recordCodec), key)
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
  return decodeMessage(payloadOf(bytes), recordCodec)
}

/** The sequence number of a verified record. */
export function seqOf(bytes: Uint8Array): bigint {
  return decodeMessage(payloadOf(bytes), recordCodec).seq
}

function decode(payload: Uint8Array): RecordMessage {
  try {
    return decodeMessage(payload, recordCodec)
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
