import { apiId } from '../../base/api-name.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { payloadOf } from '../directory/envelope.ts'
import { decodeCheckedManifest } from './manifest-codec.ts'

/** A stored manifest. Its signature was verified before it was stored, so it is not checked again. */
export function storedManifest(envelope: Uint8Array): SignedManifest {
  const manifest = decodeCheckedManifest(payloadOf(envelope))
  return { id: apiId(manifest.name, manifest.provider), manifest, envelope }
}
