import { Resolver } from 'node:dns/promises'
import { boundedMap, isApiName, isProviderId, limits, SingleFlight, SoukError } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'

/** Looks up the TXT records of a name. Each record is a list of its parts. */
export type TxtLookup = (name: string) => Promise<string[][]>

export interface ScopesInit {
  readonly souk: Pick<Souk, 'pinned'>
  readonly lookup: TxtLookup
  readonly clock: Clock
}

interface Known {
  readonly provider: string | undefined
  readonly at: number
}

/** Host names of at least two labels, in lower case (RFC 1123). */
const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/
const RECORD = /^provider=([1-9A-Za-z]+)$/
/** Error codes for a missing record: https://nodejs.org/api/dns.html#error-codes. */
const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA'])

/** Resolves scopes other than `demo` and provider ids: an alias pinned on this node, or a domain that names a provider. */
export class Scopes {
  readonly #init: ScopesInit
  readonly #domains = boundedMap<string, Known>(limits.SCOPES_KNOWN_MAX)
  readonly #asking = new SingleFlight<string, string | undefined>()

  constructor(init: ScopesInit) {
    this.#init = init
  }

  /**
   * The provider of a scope; undefined if there is none.
   * @throws SoukError `lookup_timeout` (no DNS response), `name_conflict` (several providers), `overloaded`
   */
  async providerOf(scope: string): Promise<string | undefined> {
    if (isProviderId(scope)) return scope
    const name = scope.toLowerCase()
    if (isApiName(name)) return this.#init.souk.pinned(name)
    if (!DOMAIN.test(name)) return undefined
    const known = this.#domains.get(name)
    if (known !== undefined) {
      const freshMs = known.provider === undefined ? limits.SCOPE_NEGATIVE_MS : limits.SCOPE_FRESH_MS
      if (this.#init.clock.elapsed() - known.at < freshMs) return known.provider
    }
    return this.#ask(name)
  }

  #ask(domain: string): Promise<string | undefined> {
    // Unauthenticated callers choose the names. Refuse excess lookups instead of queueing them.
    if (this.#asking.get(domain) === undefined && this.#asking.size >= limits.SCOPES_ASKED_AT_ONCE) {
      throw new SoukError('overloaded', 'Too many domains are being looked up.', { retryAfterMs: limits.DNS_MS })
    }
    return this.#asking.run(domain, () => this.#lookUp(domain))
  }

  async #lookUp(domain: string): Promise<string | undefined> {
    const { lookup, clock } = this.#init
    let records: string[][] = []
    try {
      records = await lookup(`_souk.${domain}`)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (!ABSENT.has(code)) {
        throw new SoukError(
          'lookup_timeout',
          `The DNS lookup of ${domain} failed. Try again, or call the API by its provider id.`,
          { cause: error }
        )
      }
    }
    const named = records.map((parts) => RECORD.exec(parts.join('').trim())?.[1] ?? '').filter(isProviderId)
    const providers = [...new Set(named)]
    if (providers.length > 1) {
      const detail = `${domain} names several providers. Call one of them by its id.`
      throw new SoukError('name_conflict', detail, { members: { candidates: providers.map((id) => ({ id })) } })
    }
    const [provider] = providers
    this.#domains.set(domain, { provider, at: clock.elapsed() })
    return provider
  }
}

/** Queries the system’s DNS servers, or the given ones (`address:port`), with a time limit. */
export function dnsLookup(servers?: readonly string[]): TxtLookup {
  return (name) => {
    // A resolver reads the system's servers only when it is made. They change with the machine's network.
    const resolver = new Resolver({ timeout: limits.DNS_MS / 2, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    return resolver.resolveTxt(name)
  }
}
