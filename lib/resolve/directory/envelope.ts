import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey, peerIdFromPublicKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { equals } from 'uint8arrays/equals'
import { utf8 } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'

/** A kind of signed document. Its domain keeps a signature from being valid for another kind (libp2p RFC 0002). */
export interface EnvelopeKind {
  readonly domain: string
  readonly payloadType: Uint8Array
  readonly bytesMax: number
  /** Its name in errors. */
  readonly noun: string
}

export function envelopeKind(noun: string, bytesMax: number): EnvelopeKind {
  return { domain: `souk-${noun}`, payloadType: utf8(`/souk/${noun}`), bytesMax, noun }
}

export const idOfKey = (key: PrivateKey): string => peerIdFromPrivateKey(key).toString()

/** @throws SoukError `invalid_request` when it is larger than its kind allows, or the key is not Ed25519 */
export async function seal(kind: EnvelopeKind, payload: Uint8Array, key: PrivateKey): Promise<Uint8Array> {
  if (key.type !== 'Ed25519') throw new SoukError('invalid_request', 'Node and provider keys must be Ed25519.')
  const envelope = await RecordEnvelope.seal(
    { domain: kind.domain, codec: kind.payloadType, marshal: () => payload, equals: () => false },
    key
  )
  const bytes = envelope.marshal()
  if (bytes.length > kind.bytesMax) {
    throw new SoukError('invalid_request', `The ${kind.noun} has ${bytes.length} bytes. The limit is ${kind.bytesMax}.`)
  }
  return bytes
}

/**
 * Checks size, key type, payload type, encoding and signature.
 * @throws SoukError `invalid_request`
 */
export async function open(kind: EnvelopeKind, bytes: Uint8Array): Promise<{ signer: string; payload: Uint8Array }> {
  if (bytes.length > kind.bytesMax) throw refusal(kind, 'is too large')
  let envelope: RecordEnvelope
  let signed: boolean
  try {
    envelope = RecordEnvelope.createFromProtobuf(bytes)
    // Nodes and providers use Ed25519 only. A hostile RSA key could be slow to verify.
    signed = envelope.publicKey.type === 'Ed25519' && (await envelope.validate(kind.domain))
  } catch (error) {
    throw refusal(kind, 'cannot be read', error)
  }
  if (!signed) throw refusal(kind, 'has an invalid signature')
  if (!equals(envelope.payloadType.subarray(), kind.payloadType)) throw refusal(kind, 'is of another type')
  // Only the canonical encoding is accepted. Otherwise extra fields outside the signature would give one record many
  // hashes.
  if (!equals(envelope.marshal(), bytes)) throw refusal(kind, 'is not in canonical form')
  return { signer: peerIdFromPublicKey(envelope.publicKey).toString(), payload: envelope.payload.subarray() }
}

/** The payload of an envelope that was verified before. */
export function payloadOf(bytes: Uint8Array): Uint8Array {
  return RecordEnvelope.createFromProtobuf(bytes).payload.subarray()
}

export function refusal(kind: EnvelopeKind, why: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', `The ${kind.noun} ${why}.`, cause === undefined ? {} : { cause })
}
