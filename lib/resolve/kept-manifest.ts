import { apiId } from '../base/api-name.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { payloadOf } from './envelope.ts'
import { decodeManifest } from './manifest-codec.ts'

/** A manifest that was verified before it was kept: its signature is not looked at again. */
export function keptManifest(envelope: Uint8Array): SignedManifest {
  const manifest = decodeManifest(payloadOf(envelope))
  return { id: apiId(manifest.name, manifest.provider), manifest, envelope }
}
