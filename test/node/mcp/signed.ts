import type { ApiDescription, SignedManifest } from '../../../lib/interface/index.ts'
import { PROVIDER } from '../ingress/harness.ts'

/** A listing as a node resolves it. */
export function signed(
  name: string,
  api: ApiDescription,
  given: Partial<SignedManifest['manifest']> = {}
): SignedManifest {
  const manifest: SignedManifest['manifest'] = {
    name,
    provider: PROVIDER,
    protocol: 'SOAP',
    description: `The API ${name}`,
    tags: ['money'],
    price: 1_500n,
    currency: 'USDC',
    idempotent: false,
    api,
    state: 'published',
    revision: 3,
    issuedAt: 0,
    expiresAt: 1,
    ...given
  }
  // No real envelope, but as different as the manifest.
  const envelope = Buffer.from(
    JSON.stringify(manifest, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  )
  return { id: `${name}@${manifest.provider}`, envelope, manifest }
}
