import type { ApiId } from '../../base/api-name.ts'
import { type CallCounts, countCall, noCalls, percentile, together } from '../../base/call-statistics.ts'
import { type Clock, deadline, type Timer } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import {
  LOOKUP_MS,
  PROBE_AGAIN_MS,
  PROBE_INTEREST_MS,
  PROBE_PAUSE_MS,
  PROBED_APIS_MAX
} from '../../base/limits/directory.ts'
import { fraction, type Random } from '../../base/random.ts'
import type { Resolution } from '../../interface/directory.ts'
import type { Link } from '../../interface/link.ts'
import type { Probed } from '../../interface/quality.ts'
import { ignore } from '../../base/ignore.ts'
import { splitId } from '../directory/keys.ts'
import { fetchManifests } from '../manifest/manifest-exchange.ts'

export interface ProberInit {
  readonly link: Link
  readonly clock: Clock
  readonly random: Random
  readonly resolve: (api: ApiId, options: { readonly signal: AbortSignal }) => Promise<Resolution>
}

interface Interest {
  wantedAt: number
  probedAt: number
  counts?: CallCounts
}

/**
 * Probes whether recently used APIs are reachable. It requests the manifest from the node that would be called, which
 * is free and reaches no upstream. It probes one API at a time, each rarely, at random times.
 */
export class Prober {
  readonly #init: ProberInit
  /** Sorted by last use, oldest first. */
  readonly #interests = new Map<ApiId, Interest>()
  #next: Timer | undefined
  readonly #stop = new AbortController()

  constructor(init: ProberInit) {
    this.#init = init
  }

  start(): void {
    const { clock, random } = this.#init
    // A random pause spreads the probes of nodes that start together.
    this.#next = clock.after(PROBE_PAUSE_MS * (0.5 + fraction(random)), () => {
      void this.probe()
        .catch(ignore)
        .finally(() => this.#next !== undefined && this.start())
    })
  }

  stop(): void {
    this.#next?.cancel()
    this.#next = undefined
    this.#stop.abort()
  }

  /** Somebody on this node called or viewed the API. */
  want(api: ApiId): void {
    const interest = this.#interests.get(api) ?? { wantedAt: 0, probedAt: -Infinity }
    interest.wantedAt = this.#init.clock.elapsed()
    this.#interests.delete(api)
    this.#interests.set(api, interest)
    const [oldest] = this.#interests.keys()
    if (this.#interests.size > PROBED_APIS_MAX && oldest !== undefined) this.#interests.delete(oldest)
  }

  of(api: ApiId): Probed | undefined {
    const counts = this.#interests.get(api)?.counts
    if (counts === undefined) return undefined
    const lastAt = counts.at
    const faded = together([{ ...counts }], this.#init.clock.now())
    const probes = faded.good + faded.bad
    const p50Ms = percentile(faded, 0.5)
    return { probes, reachedRate: faded.good / probes, lastAt, ...(p50Ms === undefined ? {} : { p50Ms }) }
  }

  /** Runs one probe, of the API that waited longest. Does nothing where none is due. */
  async probe(): Promise<void> {
    const { link, clock } = this.#init
    // Without peers, a probe would only test this node.
    const due = link.peers().length === 0 ? undefined : this.#due()
    if (due === undefined) return
    const [api, interest] = due
    interest.probedAt = clock.elapsed()
    const limit = deadline(clock, LOOKUP_MS, () => new SoukError('lookup_timeout'), this.#stop.signal)
    const ms = await this.#reach(api, limit.signal).finally(() => limit.clear())
    if (ms === undefined) return
    interest.counts ??= noCalls(clock.now())
    countCall(interest.counts, ms === 'not' ? { isGood: false } : { isGood: true, ms }, clock.now())
  }

  /** Duration in milliseconds; 'not' for unreachable; undefined where the result says nothing about the API. */
  async #reach(api: ApiId, signal: AbortSignal): Promise<number | 'not' | undefined> {
    const { link, clock, resolve } = this.#init
    try {
      const { owners } = await resolve(api, { signal })
      const [owner] = owners
      if (owner === undefined) return 'not'
      if (owner.id === link.self) return undefined
      const startedAt = clock.elapsed()
      const { manifests } = await fetchManifests(owner, splitId(api), { link, clock, signal })
      return manifests.length > 0 ? clock.elapsed() - startedAt : 'not'
    } catch (error) {
      // A timeout may be this node's own fault, for example when it is offline or stopping.
      const isOwn = this.#stop.signal.aborted || link.peers().length === 0
      return isOwn || asSoukError(error).code === 'lookup_timeout' ? undefined : 'not'
    }
  }

  #due(): [ApiId, Interest] | undefined {
    const now = this.#init.clock.elapsed()
    for (const [api, { wantedAt }] of this.#interests) {
      if (now - wantedAt > PROBE_INTEREST_MS) this.#interests.delete(api)
    }
    const due = [...this.#interests].filter(([, { probedAt }]) => now - probedAt >= PROBE_AGAIN_MS)
    return due.sort(([, a], [, b]) => a.probedAt - b.probedAt)[0]
  }
}
