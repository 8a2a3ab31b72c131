import { SoukError } from '../../lib/index.ts'
import type { UpstreamAuth, UpstreamConfig, UpstreamGuard } from '../../lib/interface/index.ts'
import type { SecretBox } from './secret-box.ts'

/** An upstream as the user registers it. */
export type AskedUpstream = Omit<UpstreamConfig, 'auth' | 'guard'> & {
  /** Null: none. Absent: keep the stored ones. */
  readonly auth?: UpstreamAuth | null
}

/** An upstream as stored. */
export interface StoredUpstream {
  /** Without its credentials. */
  readonly upstream: UpstreamConfig
  /** Its encrypted credentials. */
  readonly sealedAuth?: string
}

export interface CredentialStoreInit {
  /** Default: APIs with credentials cannot be registered. */
  readonly secretBox?: SecretBox
  /** Default: upstreams may have any address. */
  readonly guard?: UpstreamGuard
}

/** Converts between stored upstreams, with encrypted credentials, and upstreams for adapters, with plain ones. */
export class CredentialStore {
  readonly #secretBox: SecretBox | undefined
  readonly #guard: UpstreamGuard | undefined

  constructor({ secretBox, guard }: CredentialStoreInit) {
    this.#secretBox = secretBox
    this.#guard = guard
  }

  /**
   * The adapter’s configuration for a requested upstream. Reuses stored credentials only for the same origin, so that no other host sees
   * them.
   * @throws SoukError `invalid_request` if credentials cannot be stored
   */
  taken(name: string, { auth, ...upstream }: AskedUpstream, before: StoredUpstream | undefined): UpstreamConfig {
    const isSame = before !== undefined && originsOf(before.upstream) === originsOf(upstream)
    const known = () => (isSame ? this.opened(name, before).auth : undefined)
    // New credentials replace stored ones that cannot be decrypted any more.
    const wanted = auth === undefined ? known() : (auth ?? undefined)
    if (wanted !== undefined && this.#secretBox === undefined) throw noSecretBox('invalid_request')
    return this.#config(upstream, wanted)
  }

  sealed(name: string, { auth, guard: _, ...upstream }: UpstreamConfig): StoredUpstream {
    if (auth === undefined || this.#secretBox === undefined) return { upstream }
    return { upstream, sealedAuth: this.#secretBox.seal(JSON.stringify(auth), name) }
  }

  /** @throws SoukError `internal_error` if the credentials cannot be decrypted */
  opened(name: string, { upstream, sealedAuth }: StoredUpstream): UpstreamConfig {
    if (sealedAuth === undefined) return this.#config(upstream, undefined)
    if (this.#secretBox === undefined) throw noSecretBox('internal_error')
    return this.#config(upstream, JSON.parse(this.#secretBox.open(sealedAuth, name)) as UpstreamAuth)
  }

  #config(upstream: UpstreamConfig, auth: UpstreamAuth | undefined): UpstreamConfig {
    const guard = this.#guard
    return { ...upstream, ...(guard === undefined ? {} : { guard }), ...(auth === undefined ? {} : { auth }) }
  }
}

/** All origins that receive the credentials. */
function originsOf({ endpoint, graphql }: UpstreamConfig): string {
  return [endpoint, graphql?.subscriptions].map((url) => (url === undefined ? '' : originOf(url))).join(' ')
}

/** Some engines return null as `URL.origin` of a WebSocket URL. */
function originOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? {}
  return `${protocol}//${host}`
}

function noSecretBox(code: 'invalid_request' | 'internal_error'): SoukError {
  return new SoukError(code, 'This node cannot store credentials.')
}
