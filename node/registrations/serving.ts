import { asSoukError, type Clock, limits, parseUsdc, type Timer } from '../../lib/index.ts'
import type { Adapter, Listing, ListingInit, Souk } from '../../lib/interface/index.ts'
import type { Payout } from '../payments/payout.ts'
import type { Adapters } from '../upstream/adapters.ts'
import type { DescriptionUpdates } from '../upstream/description-updates.ts'
import type { Health } from '../upstream/health.ts'
import type { Registration } from './registration.ts'

export interface ServingInit {
  readonly souk: Pick<Souk, 'serve' | 'serveReplica'>
  readonly adapters: Adapters
  readonly payout: Payout
  readonly health: Health
  readonly updates: DescriptionUpdates
  readonly clock: Clock
  /** Logs APIs that cannot be served, and APIs that can be served again. */
  readonly log: (line: string) => void
  /** Called when it is time to retry the APIs that could not be served. */
  readonly retry: () => void
}

/** Serves the registered APIs, watches their health, and records why one cannot be served. */
export class Serving {
  readonly #init: ServingInit
  readonly #problems = new Map<string, string>()
  readonly #adapters = new Map<string, Adapter>()
  #retry: Timer | undefined
  #isStopped = false

  constructor(init: ServingInit) {
    this.#init = init
  }

  /** Why an API is not served although it should be. */
  problemOf(name: string): string | undefined {
    return this.#problems.get(name)
  }

  /** Parts of a served API’s schema that calls are not checked against. */
  warningsOf(name: string): readonly string[] {
    return this.#adapters.get(name)?.warnings ?? []
  }

  /** @param looks - read the API’s description again, because it may have changed */
  async serve(registration: Registration, given?: Adapter, looks = false): Promise<Listing> {
    const { souk, health, updates, adapters } = this.#init
    const { name } = registration
    const adapter = given ?? (await adapters.opened(name, registration))
    const listing = await serving(adapter, () =>
      registration.kind === 'own'
        ? this.#serve(registration.terms, adapter)
        : souk.serveReplica(`${name}@${registration.provider}`, adapter)
    )
    this.#problems.delete(name)
    this.#adapters.set(name, adapter)
    if (registration.kind === 'own') {
      await health.watch(name, adapter)
      adapter.follow?.((snapshot) => updates.heard(name, snapshot), looks)
    }
    return listing
  }

  /** Serves all registrations. Those that fail are logged and retried later. */
  async serveAll(registrations: readonly Registration[]): Promise<void> {
    for (let at = 0; at < registrations.length && !this.#isStopped; at += limits.RESTORE_AT_ONCE_MAX) {
      const some = registrations.slice(at, at + limits.RESTORE_AT_ONCE_MAX)
      await Promise.all(some.map((registration) => this.#serveAgain(registration)))
    }
    if (this.#problems.size > 0 && !this.#isStopped) this.#retryLater()
  }

  async forget(name: string): Promise<void> {
    this.#problems.delete(name)
    this.#adapters.delete(name)
    await this.#init.health.forget(name)
  }

  stop(): void {
    this.#isStopped = true
    this.#retry?.cancel()
    this.#init.health.stop()
    this.#init.updates.stop()
  }

  /** Adds the payout address. It is one for all of a provider’s APIs, so the stored terms omit it. */
  async #serve(terms: ListingInit, adapter: Adapter): Promise<Listing> {
    const { souk, payout } = this.#init
    payout.check(parseUsdc(terms.price))
    return souk.serve({ ...terms, ...(payout.address === undefined ? {} : { payout: payout.address }) }, adapter)
  }

  async #serveAgain(registration: Registration): Promise<void> {
    const { name } = registration
    const { log } = this.#init
    const before = this.#problems.get(name)
    try {
      // The API’s description may have changed while this node was off.
      await this.serve(registration, undefined, true)
      if (before !== undefined) log(`${name} is served again.`)
      const [warning, ...more] = this.warningsOf(name)
      const others = more.length === 0 ? '' : ` There are ${more.length} more warnings: souk api show ${name}`
      if (warning !== undefined) log(`${name} is served, with a warning: ${warning}${others}`)
    } catch (error) {
      const why = asSoukError(error).message
      if (before !== why) log(`${name} is not served: ${why}`)
      this.#problems.set(name, why)
    }
  }

  /** Retries later. A replica needs its provider’s manifest, and that provider may start after this node. */
  #retryLater(): void {
    this.#retry?.cancel()
    this.#retry = this.#init.clock.after(limits.RESTORE_RETRY_MS, this.#init.retry)
  }
}

/** Passes an adapter on. If serving fails, closes the adapter. */
async function serving(adapter: Adapter, serve: () => Promise<Listing>): Promise<Listing> {
  try {
    return await serve()
  } catch (error) {
    await adapter.close?.()
    throw error
  }
}
