import { type Clock, deadline, limits, SoukError } from '../../lib/index.ts'
import type { Adapter, AdapterFactory, Inspection, Protocol, UpstreamConfig } from '../../lib/interface/index.ts'
import type { StoredUpstream, CredentialStore } from './credential-store.ts'

/** Loads the factory of each protocol. */
export type Factories = Readonly<Partial<Record<Protocol, () => Promise<AdapterFactory>>>>

export interface AdaptersInit {
  readonly factories: Factories
  readonly clock: Clock
  readonly credentialStore: CredentialStore
}

/** An upstream that was read before. */
export interface ReadUpstream extends StoredUpstream {
  readonly protocol: Protocol
  /** The adapter’s snapshot of the upstream, so that a restart does not need to read it again. */
  readonly snapshot: string
}

/** Creates the adapters of this node, one per upstream. */
export class Adapters {
  readonly #init: AdaptersInit

  constructor(init: AdaptersInit) {
    this.#init = init
  }

  /** @throws SoukError `invalid_request` */
  async factory(protocol: Protocol): Promise<AdapterFactory> {
    const load = this.#init.factories[protocol]
    if (load === undefined) throw new SoukError('invalid_request', `This node has no adapter for ${protocol}.`)
    return load()
  }

  /** Reads an upstream. @throws SoukError those of `AdapterFactory.inspect`, `upstream_timeout` */
  async inspected(protocol: Protocol, upstream: UpstreamConfig, signal: AbortSignal): Promise<Inspection> {
    const factory = await this.factory(protocol)
    const late = () => new SoukError('upstream_timeout', 'The API did not respond in time to the check.')
    const limit = deadline(this.#init.clock, limits.INSPECT_MS, late, signal)
    try {
      return await factory.inspect(upstream, limit.signal)
    } finally {
      limit.clear()
    }
  }

  /** An adapter for an upstream that was read before, with its credentials. */
  async opened(name: string, { protocol, snapshot, ...kept }: ReadUpstream): Promise<Adapter> {
    const factory = await this.factory(protocol)
    const current = (await factory.renewed?.(snapshot)) ?? snapshot
    return factory.open(this.#init.credentialStore.opened(name, kept), current)
  }
}
