import { type ApiId, apiId } from '../../base/api-name.ts'
import { CLOCK_SKEW_MS } from '../../base/limits/directory.ts'
import type { Manifest, SignedManifest } from '../../interface/manifest.ts'
import { checkManifest } from './check-manifest.ts'
import { open, refusal } from '../directory/envelope.ts'
import { decodeManifest } from './manifest-codec.ts'
import { MANIFEST } from './sign-manifest.ts'

export interface ManifestExpectation {
  /** Wall time, milliseconds since the epoch. */
  readonly now: number
  /** Rejects the manifest of any other API. */
  readonly id?: ApiId
}

/**
 * Verifies untrusted bytes as a manifest: signed by its provider, following every rule, and valid now. `pins.ts` checks
 * that it is not older than one seen before.
 * @throws SoukError `invalid_request` saying what is wrong
 */
export async function verifyManifest(envelope: Uint8Array, expected: ManifestExpectation): Promise<SignedManifest> {
  const { signer, payload } = await open(MANIFEST, envelope)
  let manifest: Manifest
  try {
    manifest = decodeManifest(payload)
  } catch (error) {
    throw refusal(MANIFEST, 'cannot be read', error)
  }
  checkManifest(manifest)
  if (signer !== manifest.provider) throw refusal(MANIFEST, 'was not signed by its provider')
  const id = apiId(manifest.name, manifest.provider)
  if (expected.id !== undefined && expected.id !== id) throw refusal(MANIFEST, 'belongs to another API')
  if (manifest.issuedAt > expected.now + CLOCK_SKEW_MS) throw refusal(MANIFEST, 'is from the future')
  if (manifest.expiresAt <= expected.now) throw refusal(MANIFEST, 'has expired')
  return { id, manifest, envelope }
}
