import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromMultihash, peerIdFromString } from '@libp2p/peer-id'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { isProviderId } from '../../base/api-name.ts'
import { RECORD_BYTES_MAX } from '../../base/limits/directory.ts'
import { malformed } from '../../base/malformed.ts'
import { bytes, uint53 } from '../../base/wire/field.ts'
import { message } from '../../base/wire/message.ts'
import type { Delegation } from '../../interface/manifest.ts'
import { envelopeKind, idOfKey, open, refusal, seal } from './envelope.ts'

const DELEGATION = envelopeKind('delegation', RECORD_BYTES_MAX)

export const DELEGATION_MESSAGE = message(
  'Delegation',
  'A permission for a node to serve the APIs of the provider, which is the signer of the envelope.',
  {
    peer: bytes(1, 'Peer id in its binary form, a multihash.'),
    expiresAt: uint53(2)
  },
  // Kept for the settlement address of the node.
  [3]
)

/**
 * Signs a provider's permission for a node to serve its APIs until `expiresAt` (milliseconds since the epoch).
 * @throws SoukError `invalid_request` unless `peer` is the id of an Ed25519 node
 */
export async function signDelegation(
  { peer, expiresAt }: { readonly peer: string; readonly expiresAt: number },
  providerKey: PrivateKey
): Promise<Delegation> {
  if (!isProviderId(peer)) {
    throw malformed('peer', `"${peer.slice(0, 80)}" is not a peer id. A peer id starts with 12D3KooW.`)
  }
  const payload = DELEGATION_MESSAGE.encode({ peer: peerIdFromString(peer).toMultihash().bytes, expiresAt })
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
    const decoded = DELEGATION_MESSAGE.decode(payload)
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
