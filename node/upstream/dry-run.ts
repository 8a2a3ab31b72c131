import { asSoukError, type Clock, deadline, isSoukError, limits, SoukError, utf8 } from '../../lib/index.ts'
import type {
  Adapter,
  AdapterReply,
  ApiDescription,
  Inspection,
  Protocol,
  UpstreamConfig
} from '../../lib/interface/index.ts'
import type { DiscoveredApi } from '../../protocols/index.ts'
import { bodyBeginning } from '../body-beginning.ts'
import type { Adapters, ReadUpstream } from './adapters.ts'
import type { AskedUpstream, StoredUpstream, CredentialStore } from './credential-store.ts'

/** An upstream to test before its registration. */
export interface DryRunUpstream extends AskedUpstream {
  readonly protocol: Protocol
  /** A registered API whose credentials to use, if none are given and the origin is the same. */
  readonly name?: string
}

/** The response of one test call. */
export interface DryRunResponse extends Pick<AdapterReply, 'status' | 'headers' | 'success' | 'upstreamMs'> {
  readonly body: Uint8Array
  /** The body was cut off. */
  readonly isCut: boolean
}

/** An API found at an address, and what its import says. */
export interface FoundApi extends DiscoveredApi {
  readonly operations: number
}

export interface Discovered {
  /** Best first, never empty. */
  readonly found: readonly FoundApi[]
  /** Descriptions that cannot be used, and why. */
  readonly refused: readonly string[]
}

export interface DryRunInit {
  readonly adapters: Adapters
  readonly clock: Clock
  readonly credentialStore: CredentialStore
  readonly known: (name: string) => (StoredUpstream & { readonly protocol: Protocol }) | undefined
}

/** Tests an upstream before its registration. A dry run stores, publishes, counts and charges nothing. */
export class DryRun {
  readonly #init: DryRunInit

  constructor(init: DryRunInit) {
    this.#init = init
  }

  /** Reads an upstream. @throws SoukError those of `AdapterFactory.inspect` */
  async check(asked: DryRunUpstream, signal: AbortSignal): Promise<Inspection> {
    return (await this.#inspected(asked, signal)).inspection
  }

  /** Reads an upstream and calls it once. @throws SoukError those of `AdapterFactory.inspect` and `Adapter.call` */
  async call(asked: DryRunUpstream, body: unknown, signal: AbortSignal): Promise<DryRunResponse> {
    const { adapters, clock } = this.#init
    const { config, inspection } = await this.#inspected(asked, signal)
    const factory = await adapters.factory(asked.protocol)
    const adapter = factory.open(config, inspection.snapshot)
    try {
      return await answered(adapter, body, clock, signal)
    } finally {
      await adapter.close?.()
    }
  }

  /**
   * Finds out what is at an address, and imports the best candidates.
   * @throws SoukError those of `discoverUpstream`; those of `AdapterFactory.inspect` if nothing can be used
   */
  async discover(asked: AskedUpstream, protocol: Protocol | undefined, signal: AbortSignal): Promise<Discovered> {
    const { clock, credentialStore } = this.#init
    const { discoverUpstream } = await import('../../protocols/index.ts')
    const all = await discoverUpstream(credentialStore.taken('', asked, undefined), clock, signal)
    const candidates = all.filter((each) => protocol === undefined || each.protocol === protocol)
    const [found, refused]: [FoundApi[], string[]] = [[], []]
    for (const candidate of candidates.slice(0, limits.DISCOVERY_IMPORTS_MAX)) {
      // A described API needs no entry without its description.
      if (found.length > 0 && candidate === all.at(-1)) break
      try {
        const upstream = { ...asked, ...candidate.config, protocol: candidate.protocol }
        const { description, warnings } = await this.check(upstream, signal)
        const operations = description.operations.length
        found.push({ ...candidate, operations, warnings: [...candidate.warnings, ...warnings] })
      } catch (error) {
        if (!isSoukError(error) || signal.aborted) throw error
        refused.push(`${candidate.protocol} at ${candidate.at} cannot be used: ${error.message}`)
      }
    }
    if (found.length === 0) throw new SoukError('invalid_request', nothing(asked.endpoint, protocol, refused))
    return { found, refused }
  }

  /** The description of a registered API, whether it is served now or not. */
  async description({ protocol, upstream, snapshot }: ReadUpstream): Promise<ApiDescription> {
    const factory = await this.#init.adapters.factory(protocol)
    const adapter = factory.open(upstream, (await factory.renewed?.(snapshot)) ?? snapshot)
    try {
      return await adapter.description
    } finally {
      await adapter.close?.()
    }
  }

  async #inspected(
    { protocol, name = '', ...asked }: DryRunUpstream,
    signal: AbortSignal
  ): Promise<{ config: UpstreamConfig; inspection: Inspection }> {
    const { credentialStore, known, adapters } = this.#init
    const before = known(name)
    const config = credentialStore.taken(name, asked, before?.protocol === protocol ? before : undefined)
    return { config, inspection: await adapters.inspected(protocol, config, signal) }
  }
}

function nothing(endpoint: string, protocol: Protocol | undefined, refused: readonly string[]): string {
  if (refused.length > 0) return refused.join('\n')
  return `No ${protocol ?? ''} API was found at ${endpoint}. Register it with: souk api register --help`
}

/** Reads a stream for a limited time. */
async function answered(adapter: Adapter, given: unknown, clock: Clock, signal: AbortSignal): Promise<DryRunResponse> {
  const headers = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream;q=0.5']
  ] as const
  const enough = new SoukError('upstream_timeout', 'The response is a stream that continues.')
  const limit = deadline(clock, limits.UPSTREAM_TIMEOUT_MS_MAX, () => enough, signal)
  try {
    const request = { method: 'POST', path: '', headers, body: utf8(JSON.stringify(given)) }
    const { status, headers: told, success, upstreamMs, body } = await adapter.call(request, limit.signal)
    return { status, headers: told, success, upstreamMs, ...(await read(body, clock)) }
  } finally {
    limit.clear()
  }
}

async function read(body: AdapterReply['body'], clock: Clock): Promise<{ body: Uint8Array; isCut: boolean }> {
  const most = { bytesMax: limits.TRIAL_BODY_BYTES_MAX, ms: limits.TRIAL_READ_MS }
  const { bytes, cut, error } = await bodyBeginning(body, { ...most, clock })
  if (cut === 'broken') throw asSoukError(error)
  return { body: bytes, isCut: cut !== undefined }
}
