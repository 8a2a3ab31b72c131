import { SoukError } from '../base/errors.ts'
import { TOMBSTONE_MS } from '../base/limits.ts'
import type { Adapter } from '../interface/adapter.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { DEFAULT_TERMS, type ServedApi } from './served-api.ts'

/** The name is held, and whoever calls is told that the API is gone. */
export function isHeld(retiredAt: number, now: number): boolean {
  return now < retiredAt + TOMBSTONE_MS
}

/** A retired listing without its API: its signed manifest is shown, and every call is refused. */
export function tombstone(signed: SignedManifest): ServedApi {
  const { protocol, api } = signed.manifest
  const adapter: Adapter = {
    protocol,
    description: api,
    call: () => Promise.reject(new SoukError('api_retired'))
  }
  return { signed, adapter, terms: DEFAULT_TERMS }
}
