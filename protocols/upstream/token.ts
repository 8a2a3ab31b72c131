import type { Clock } from '../../lib/base/clock.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { TOKEN_LIFE_MS, TOKEN_RENEW_MS, TOKEN_REPLY_BYTES_MAX } from '../../lib/base/limits/upstream.ts'
import { within } from '../../lib/base/within.ts'
import type { ClientCredentials } from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import type { UpstreamResponse } from './response.ts'

/** Posts a form to the token server, over a connection with the same certificate and guard. */
export type PostForm = (headers: Headers, form: string) => Promise<UpstreamResponse>

interface Token {
  readonly value: string
  readonly renewAt: number
  readonly endsAt: number
}

/** RFC 6750 §2.1, relaxed for tokens of real servers. */
const TOKEN = /^[\x21-\x7e]+$/
const LIFE_S_MAX = 365 * 86_400

/** Access tokens by client credentials. One token is cached, and renewed before it expires. */
export class TokenSource {
  readonly #credentials: ClientCredentials
  readonly #post: PostForm
  readonly #clock: Clock
  #token: Token | undefined
  #renewal: Promise<Token> | undefined

  constructor(credentials: ClientCredentials, post: PostForm, clock: Clock) {
    this.#credentials = credentials
    this.#post = post
    this.#clock = clock
  }

  /**
   * A valid token. Concurrent callers share one request.
   * @throws SoukError `upstream_unreachable`, `upstream_timeout`, `upstream_invalid_response`, or the signal's reason
   */
  async token(signal: AbortSignal): Promise<string> {
    const known = this.#token
    const now = this.#clock.elapsed()
    if (known !== undefined && now < known.renewAt) return known.value
    const renewal = this.#renew()
    if (known !== undefined && now < known.endsAt) {
      // The old token works until it expires; a later caller gets the error.
      renewal.catch(() => {})
      return known.value
    }
    return (await within(renewal, signal)).value
  }

  /** Drops a token that the API rejected. */
  refused(value: string): void {
    if (this.#token?.value === value) this.#token = undefined
  }

  /** True if a text that leaves this node would reveal the token. */
  shows(text: string): boolean {
    return this.#token !== undefined && text.includes(this.#token.value)
  }

  #renew(): Promise<Token> {
    this.#renewal ??= this.#fetch()
      .then((token) => (this.#token = token))
      .finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  async #fetch(): Promise<Token> {
    const askedAt = this.#clock.elapsed()
    const { clientId, clientSecret, scope, audience, sendAs = 'basic' } = this.#credentials
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    if (scope !== undefined) form.set('scope', scope)
    if (audience !== undefined) form.set('audience', audience)
    if (sendAs === 'body') {
      form.set('client_id', clientId)
      form.set('client_secret', clientSecret)
    }
    const headers: Headers = [
      ['content-type', 'application/x-www-form-urlencoded'],
      ['accept', 'application/json']
    ]
    const response = await this.#post(headers, form.toString())
    return tokenIn(response.status, await response.bytes(TOKEN_REPLY_BYTES_MAX), askedAt)
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before they become user name and password. */
export function basicOf({ clientId, clientSecret, sendAs }: ClientCredentials) {
  if (sendAs === 'body') return undefined
  const encoded = (text: string) => new URLSearchParams({ _: text }).toString().slice(2)
  return { username: encoded(clientId), password: encoded(clientSecret) }
}

/** @throws SoukError `upstream_invalid_response`, without the server's text, which may repeat the request's secrets. */
function tokenIn(status: number, bytes: Uint8Array, askedAt: number): Token {
  const refuse = () =>
    new SoukError('upstream_invalid_response', `The API's token server returned no token (HTTP ${status}).`, {
      source: 'upstream'
    })
  if (status !== 200) throw refuse()
  let reply: unknown
  try {
    reply = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    throw refuse()
  }
  if (typeof reply !== 'object' || reply === null) throw refuse()
  const { access_token: value, token_type: type = 'Bearer', expires_in: life } = reply as Record<string, unknown>
  const isUsable = typeof value === 'string' && TOKEN.test(value)
  if (!isUsable || typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw refuse()
  const seconds = Number(life)
  const lifeMs = life !== undefined && seconds >= 0 ? Math.min(seconds, LIFE_S_MAX) * 1_000 : TOKEN_LIFE_MS
  return { value, endsAt: askedAt + lifeMs, renewAt: askedAt + Math.max(lifeMs - TOKEN_RENEW_MS, lifeMs * 0.9) }
}
