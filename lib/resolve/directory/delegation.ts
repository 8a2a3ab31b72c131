import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromMultihash, peerIdFromString } from '@libp2p/peer-id'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { decodeMessage, encodeMessage } from 'protons-runtime'
import { isProviderId } from '../../base/api-name.ts'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import { RECORD_BYTES_MAX } from '../../base/limits/directory.ts'
import type { Delegation } from '../../interface/manifest.ts'
import { envelopeKind, idOfKey, open, refusal, seal } from './envelope.ts'
import { bytesTag, codec, readSafeInteger, varintTag, writeBytes, writeInteger } from '../../base/wire.ts'

const DELEGATION = envelopeKind('delegation', RECORD_BYTES_MAX)

/** `souk.Delegation` of `docs/reference/souk-directory.proto`. The envelope's signer is the provider. */
interface DelegationMessage {
  peer: Uint8Array
  expiresAt: number
}

export const delegationCodec = codec<DelegationMessage>({
  start: () => ({ peer: EMPTY_BYTES, expiresAt: 0 }),
  write(value, writer) {
    writeBytes(writer, 1, value.peer)
    writeInteger(writer, 2, value.expiresAt)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.peer = reader.bytes()
    else if (tag === varintTag(2)) value.expiresAt = readSafeInteger(reader)
    else return false
    return true
  }
})

/**
 * Signs a provider's permission for a node to serve its APIs until `expiresAt` (milliseconds since the epoch).
 * @throws SoukError `invalid_request` unless `peer` is the id of an Ed25519 node
 */
export async function signDelegation(
  { peer, expiresAt }: { readonly peer: string; readonly expiresAt: number },
  providerKey: PrivateKey
): Promise<Delegation> {
  if (!isProviderId(peer)) {
    throw new SoukError('invalid_request', `"${peer.slice(0, 80)}" is not a peer id. A peer id starts with 12D3KooW.`)
  }
  const payload = encodeMessage({ peer: peerIdFromString(peer).toMultihash().bytes, expiresAt }, delegationCodec)
  return { provider: idOfKey(providerKey), peer, expiresAt, envelope: await seal(DELEGATION, payload, providerKey) }
}

/**
 * Checks everything except the expiry, because records outlive their delegations. Callers check the expiry with
 * `mayServe`.
 * @throws SoukError `invalid_request`
 */
export async function verifyDelegation(envelope: Uint8Array, provider?: string): Promise<Delegation> {
  const { signer, payload } = await open(DELEGATION, envelope)
  if (provider !== undefined && provider !== signer) throw refusal(DELEGATION, 'belongs to another provider')
  let peer: string
  let expiresAt: number
  try {
    const decoded = decodeMessage(payload, delegationCodec)
    peer = peerIdFromMultihash(decodeDigest(decoded.peer)).toString()
    expiresAt = decoded.expiresAt
  } catch (error) {
    throw refusal(DELEGATION, 'cannot be read', error)
  }
  if (!isProviderId(peer)) throw refusal(DELEGATION, 'does not name an Ed25519 node')
  return { provider: signer, peer, expiresAt, envelope }
}

/** Whether a node may serve a provider's APIs now: it has the provider key, or an unexpired delegation. */
export function mayServe(peer: string, provider: string, delegations: readonly Delegation[], now: number): boolean {
  return peer === provider || delegations.some((delegation) => delegation.peer === peer && delegation.expiresAt > now)
}
