import type { ApiId } from '../base/api-name.ts'
import type { Clock } from '../base/clock.ts'
import { OWNER_COOLDOWN_MS, RESOLUTIONS_MAX } from '../base/limits/directory.ts'
import { fraction, type Random } from '../base/random.ts'
import type { PeerAddress } from '../interface/link.ts'
import { boundedMap } from './directory/bounded-map.ts'

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

export function createOwnerChoice({ clock, random }: { readonly clock: Clock; readonly random: Random }): OwnerChoice {
  const latencies = boundedMap<string, number>(RESOLUTIONS_MAX)
  const failures = boundedMap<string, number>(RESOLUTIONS_MAX)
  const heard = boundedMap<string, true>(RESOLUTIONS_MAX)
  // Latency is stored per API and owner, because an owner's distance to the upstream differs per API.
  const keyOf = (id: ApiId, owner: string) => `${id} ${owner}`

  function tier(id: ApiId, owner: string, nearMs: number): number {
    const failedAt = failures.get(owner)
    if (failedAt !== undefined && clock.elapsed() - failedAt < OWNER_COOLDOWN_MS) return Infinity
    const ms = latencies.get(keyOf(id, owner))
    if (ms === undefined) return heard.has(owner) ? -1 : Number.MAX_VALUE
    return ms <= nearMs ? 0 : ms
  }

  return {
    order(id, owners) {
      if (owners.length < 2) return [...owners]
      const known = owners.map(({ id: owner }) => latencies.get(keyOf(id, owner)) ?? Infinity)
      const fastest = Math.min(...known)
      const nearMs = Math.max(fastest * NEAR_FACTOR, fastest + NEAR_MS)
      const ranked = shuffle(owners, random)
        .map((owner) => ({ owner, tier: tier(id, owner.id, nearMs) }))
        .sort((a, b) => (a.tier === b.tier ? 0 : a.tier - b.tier))
      const alive = ranked.filter(({ tier }) => tier !== Infinity).length
      if (alive > 1 && fraction(random) < EXPLORE_SHARE) {
        ranked.unshift(...ranked.splice(1 + Math.floor(fraction(random) * (alive - 1)), 1))
      }
      return ranked.map(({ owner }) => owner)
    },

    worked(id, owner, ms) {
      failures.delete(owner)
      const key = keyOf(id, owner)
      const before = latencies.get(key)
      latencies.set(key, before === undefined ? ms : before + (ms - before) * NEWEST_WEIGHT)
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
