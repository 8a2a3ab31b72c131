import type { PrivateKey } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import type { ManifestSigner } from '../../interface/manifest.ts'
import { signDelegation } from '../directory/delegation.ts'
import { idOfKey } from '../directory/envelope.ts'
import { signManifest } from './sign-manifest.ts'
import { verifyManifest } from './verify-manifest.ts'

/** Creates the manifest signer of one provider key (Ed25519). */
export function createManifestSigner({
  providerKey,
  clock
}: {
  readonly providerKey: PrivateKey
  readonly clock: Clock
}): ManifestSigner {
  return {
    provider: idOfKey(providerKey),
    sign: (manifest) => signManifest(manifest, providerKey),
    verify: (envelope) => verifyManifest(envelope, { now: clock.now() }),
    delegate: (peer, expiresAt) => signDelegation({ peer, expiresAt }, providerKey)
  }
}
