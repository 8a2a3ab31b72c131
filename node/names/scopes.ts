import { Resolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import { isApiName, isProviderId, limits, SoukError } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'

/** Asks the DNS for the TXT records of a name, each in its parts. */
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
/** What the DNS says where there is no such record: https://nodejs.org/api/dns.html#error-codes. */
const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA'])

/** What a scope of a call's path means beside `demo` and a provider id: an alias pinned on this node, or a domain that names one. */
export class Scopes {
  readonly #init: ScopesInit
  readonly #domains = new LRUCache<string, Known>({ maxSize: limits.SCOPES_KNOWN_MAX, sizeCalculation: () => 1 })
  readonly #asking = new Map<string, Promise<string | undefined>>()

  constructor(init: ScopesInit) {
    this.#init = init
  }

  /**
   * The provider that a scope stands for; undefined where it stands for none.
   * @throws SoukError `lookup_timeout` (the DNS did not answer), `name_conflict` (it names several), `overloaded`
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
    const running = this.#asking.get(domain)
    if (running !== undefined) return running
    // Strangers choose the names: a flood of them waits for nobody.
    if (this.#asking.size >= limits.SCOPES_ASKED_AT_ONCE) {
      throw new SoukError('overloaded', 'Too many domains are being looked up.', { retryAfterMs: limits.DNS_MS })
    }
    const asking = this.#lookUp(domain).finally(() => this.#asking.delete(domain))
    this.#asking.set(domain, asking)
    return asking
  }

  async #lookUp(domain: string): Promise<string | undefined> {
    const { lookup, clock } = this.#init
    let records: string[][] = []
    try {
      records = await lookup(`_souk.${domain}`)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (!ABSENT.has(code)) {
        throw new SoukError('lookup_timeout', `The DNS did not say what ${domain} stands for.`, { cause: error })
      }
    }
    const named = records.map((parts) => RECORD.exec(parts.join('').trim())?.[1] ?? '').filter(isProviderId)
    const providers = [...new Set(named)]
    if (providers.length > 1) {
      const detail = `${domain} names several providers; call one of them by its id.`
      throw new SoukError('name_conflict', detail, { members: { candidates: providers.map((id) => ({ id })) } })
    }
    const [provider] = providers
    this.#domains.set(domain, { provider, at: clock.elapsed() })
    return provider
  }
}

/** The system's DNS servers, or these (`address:port`), with a time limit. */
export function dnsLookup(servers?: readonly string[]): TxtLookup {
  const resolver = new Resolver({ timeout: limits.DNS_MS / 2, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return (name) => resolver.resolveTxt(name)
}
