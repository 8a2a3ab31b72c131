import { API_NAME_CHARS_MAX } from './limits/names.ts'
import { malformed } from './malformed.ts'

/** Canonical id of an API: `name@<provider id>`, where the provider id is the peer id of the provider's Ed25519 key. */
export type ApiId = `${string}@${string}`

const NAME = /^[a-z0-9][a-z0-9-]*$/
/** Peer ids of Ed25519 keys, in base58btc as libp2p prints them. */
const PROVIDER_ID = /^12D3KooW[1-9A-HJ-NP-Za-km-z]{44}$/

export function isApiName(name: string): boolean {
  return name.length <= API_NAME_CHARS_MAX && NAME.test(name)
}

export function isProviderId(id: string): boolean {
  return PROVIDER_ID.test(id)
}

/** @throws SoukError `invalid_request` when it is not `[a-z0-9][a-z0-9-]{0,62}`. */
export function checkApiName(name: unknown): string {
  // Not every embedder has TypeScript.
  if (typeof name !== 'string' || !isApiName(name)) {
    throw malformed(
      'api',
      `"${String(name).slice(0, 80)}" is not an API name. Use a-z, 0-9 and "-", at most ${API_NAME_CHARS_MAX} characters, first one not "-".`
    )
  }
  return name
}

export function apiId(name: string, provider: string): ApiId {
  return `${name}@${provider}`
}

/** An API reference from a consumer: `name`, or `name@provider`. */
export interface ApiRef {
  readonly name: string
  /** Provider id. A bare name has none: it resolves to its pinned provider, or to its only claimant. */
  readonly provider?: string
}

/**
 * @throws SoukError `invalid_request` when either part is malformed.
 *
 * @example
 * ```ts
 * import { parseApiRef } from 'souk'
 *
 * console.log(parseApiRef('weather')) // { name: 'weather' }
 * ```
 */
export function parseApiRef(text: string): ApiRef {
  const at = text.indexOf('@')
  if (at === -1) return { name: checkApiName(text) }
  const provider = text.slice(at + 1)
  if (!isProviderId(provider)) {
    throw malformed('api', `"${provider.slice(0, 80)}" is not a provider id. A provider id starts with 12D3KooW.`)
  }
  return { name: checkApiName(text.slice(0, at)), provider }
}

export function formatApiRef(ref: ApiRef): string {
  return ref.provider === undefined ? ref.name : apiId(ref.name, ref.provider)
}
