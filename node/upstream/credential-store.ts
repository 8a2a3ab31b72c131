import { SoukError } from '../../lib/index.ts'
import type { UpstreamAuth, UpstreamConfig, UpstreamGuard } from '../../lib/interface/index.ts'
import type { SecretBox } from './secret-box.ts'

/** An upstream as somebody registers it. */
export type AskedUpstream = Omit<UpstreamConfig, 'auth' | 'guard'> & {
  /** Null: none. Absent: what is known already. */
  readonly auth?: UpstreamAuth | null
}

/** An upstream as it is written down. */
export interface StoredUpstream {
  /** Without its credentials. */
  readonly upstream: UpstreamConfig
  /** Its credentials, sealed. */
  readonly sealedAuth?: string
}

export interface CredentialStoreInit {
  /** Default: APIs with credentials cannot be registered. */
  readonly secretBox?: SecretBox
  /** Default: upstreams may be anywhere. */
  readonly guard?: UpstreamGuard
}

/** Between what is written down of upstreams and what adapters are handed: credentials are sealed in one, and plain in the other. */
export class CredentialStore {
  readonly #secretBox: SecretBox | undefined
  readonly #guard: UpstreamGuard | undefined

  constructor({ secretBox, guard }: CredentialStoreInit) {
    this.#secretBox = secretBox
    this.#guard = guard
  }

  /**
   * What is handed to an adapter of what was asked for. Credentials are for one origin: no other is ever shown them.
   * @throws SoukError `invalid_request` where credentials cannot be kept
   */
  taken(name: string, { auth, ...upstream }: AskedUpstream, before: StoredUpstream | undefined): UpstreamConfig {
    const isSame = before !== undefined && originsOf(before.upstream) === originsOf(upstream)
    const known = isSame ? this.opened(name, before).auth : undefined
    const wanted = auth === undefined ? known : (auth ?? undefined)
    if (wanted !== undefined && this.#secretBox === undefined) throw noSecretBox('invalid_request')
    return this.#config(upstream, wanted)
  }

  sealed(name: string, { auth, guard: _, ...upstream }: UpstreamConfig): StoredUpstream {
    if (auth === undefined || this.#secretBox === undefined) return { upstream }
    return { upstream, sealedAuth: this.#secretBox.seal(JSON.stringify(auth), name) }
  }

  /** @throws SoukError `internal_error` where the credentials cannot be read */
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

/** Of all who are shown the credentials. */
function originsOf({ endpoint, graphql }: UpstreamConfig): string {
  return [endpoint, graphql?.subscriptions].map((url) => (url === undefined ? '' : originOf(url))).join(' ')
}

/** `URL.origin` of a WebSocket's address is null in some engines. */
function originOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? {}
  return `${protocol}//${host}`
}

function noSecretBox(code: 'invalid_request' | 'internal_error'): SoukError {
  return new SoukError(code, 'This node keeps no credentials.')
}
