import { SoukError } from '../base/errors.ts'
import { TOMBSTONE_MS } from '../base/limits/plans.ts'
import type { Adapter } from '../interface/adapter.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { DEFAULT_TERMS, type ServedApi } from './served-api.ts'

/** While this is true, the name is reserved, and calls get `api_retired`. */
export function isHeld(retiredAt: number, now: number): boolean {
  return now < retiredAt + TOMBSTONE_MS
}

/** A retired listing without its adapter: its manifest is shown, and every call is refused. */
export function tombstone(signed: SignedManifest): ServedApi {
  const { protocol, api } = signed.manifest
  const adapter: Adapter = {
    protocol,
    description: api,
    call: () => Promise.reject(new SoukError('api_retired'))
  }
  return { signed, adapter, terms: DEFAULT_TERMS }
}
