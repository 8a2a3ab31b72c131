import type { ApiId } from '../base/api-name.ts'
import { boundedMap } from '../base/bounded-map.ts'
import type { Clock } from '../base/clock.ts'
import { OWNER_COOLDOWN_MS, RESOLUTIONS_MAX, SERVERS_MAX } from '../base/limits/directory.ts'
import { fraction, type Random } from '../base/random.ts'
import type { PeerAddress } from '../interface/link.ts'

/** Ranks the nodes that serve an API by their recent results. */
export interface OwnerChoice {
  /**
   * Best first: responding nodes without a latency yet, so that they get measured; then the fastest in random order;
   * then slower ones; then unknown ones; last those that failed within `OWNER_COOLDOWN_MS`. Occasionally a slower node
   * comes first, to measure it again.
   */
  order(id: ApiId, owners: readonly PeerAddress[]): PeerAddress[]
  worked(id: ApiId, owner: string, ms: number): void
  /** The node responded to a query, so it is reachable. */
  answered(owner: string): void
  failed(owner: string): void
}

/** Weight of the newest latency in the average: a change shows after a few calls, and one outlier has little effect. */
const NEWEST_WEIGHT = 0.2
/** Owners this close to the fastest share its load. */
const NEAR_FACTOR = 1.25
const NEAR_MS = 2
/** Share of calls that try a slower owner first. */
const EXPLORE_SHARE = 1 / 32

/** Weighted average of an owner's latencies. */
interface Latency {
  ms: number
}

export function createOwnerChoice({ clock, random }: { readonly clock: Clock; readonly random: Random }): OwnerChoice {
  /** By API and owner, because an owner's distance to the upstream differs per API. */
  const latencies = boundedMap<ApiId, Map<string, Latency>>(RESOLUTIONS_MAX)
  const failures = boundedMap<string, number>(RESOLUTIONS_MAX)
  const heard = boundedMap<string, true>(RESOLUTIONS_MAX)

  function tier(owner: string, ms: number | undefined, nearMs: number): number {
    const failedAt = failures.get(owner)
    if (failedAt !== undefined && clock.elapsed() - failedAt < OWNER_COOLDOWN_MS) return Infinity
    if (ms === undefined) return heard.has(owner) ? -1 : Number.MAX_VALUE
    return ms <= nearMs ? 0 : ms
  }

  return {
    order(id, owners) {
      if (owners.length < 2) return [...owners]
      const known = latencies.get(id)
      const msOf = (owner: PeerAddress) => known?.get(owner.id)?.ms
      const fastest = Math.min(...owners.map((owner) => msOf(owner) ?? Infinity))
      const nearMs = Math.max(fastest * NEAR_FACTOR, fastest + NEAR_MS)
      const ranked = shuffle(owners, random)
        .map((owner) => ({ owner, tier: tier(owner.id, msOf(owner), nearMs) }))
        .sort((a, b) => (a.tier === b.tier ? 0 : a.tier - b.tier))
      const alive = ranked.filter(({ tier }) => tier !== Infinity).length
      if (alive > 1 && fraction(random) < EXPLORE_SHARE) {
        ranked.unshift(...ranked.splice(1 + Math.floor(fraction(random) * (alive - 1)), 1))
      }
      return ranked.map(({ owner }) => owner)
    },

    worked(id, owner, ms) {
      failures.delete(owner)
      const known = latencies.get(id) ?? new Map<string, Latency>()
      if (known.size === 0) latencies.set(id, known)
      const latency = known.get(owner)
      // In place, because each call comes here.
      if (latency !== undefined) latency.ms += (ms - latency.ms) * NEWEST_WEIGHT
      else {
        const [oldest] = known.keys()
        if (known.size >= SERVERS_MAX && oldest !== undefined) known.delete(oldest)
        known.set(owner, { ms })
      }
    },

    answered(owner) {
      failures.delete(owner)
      heard.set(owner, true)
    },

    failed(owner) {
      failures.set(owner, clock.elapsed())
    }
  }
}

/** Fisher–Yates shuffle. */
function shuffle<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(fraction(random) * (i + 1))
    ;[mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T]
  }
  return mixed
}
