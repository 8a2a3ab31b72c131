import type { PrivateKey } from '@libp2p/interface'
import { apiId } from '../../base/api-name.ts'
import { SoukError } from '../../base/errors.ts'
import { MANIFEST_BYTES_MAX } from '../../base/limits/directory.ts'
import type { Manifest, SignedManifest } from '../../interface/manifest.ts'
import { checkManifest } from './check-manifest.ts'
import { envelopeKind, idOfKey, seal } from '../directory/envelope.ts'
import { encodeManifest } from './manifest-codec.ts'

export const MANIFEST = envelopeKind('manifest', MANIFEST_BYTES_MAX)

/**
 * Signs with the provider key.
 * @throws SoukError `invalid_request` when the manifest breaks a rule, is too large, or names another provider
 */
export async function signManifest(manifest: Manifest, providerKey: PrivateKey): Promise<SignedManifest> {
  checkManifest(manifest)
  if (idOfKey(providerKey) !== manifest.provider) {
    throw new SoukError('invalid_request', 'Only the provider itself can sign its manifest.')
  }
  const envelope = await seal(MANIFEST, encodeManifest(manifest), providerKey)
  return { id: apiId(manifest.name, manifest.provider), manifest, envelope }
}
