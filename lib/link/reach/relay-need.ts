import { multiaddr } from '@multiformats/multiaddr'
import { RELAYS_WANTED } from '../../base/limits/reach.ts'
import type { Reachability } from '../../interface/reachability.ts'
import { fillsGap, GAPS } from './reach-gaps.ts'
import type { RelayNeed } from './relay-keeper.ts'

/**
 * The relays that a serving node needs. Some peers cannot dial a public node either.
 * @param listened - the addresses of this machine's interfaces
 */
export function relayNeed(
  monitor: { readonly needsRelay: boolean; status(): Pick<Reachability, 'state' | 'addresses'> },
  listened: readonly string[]
): RelayNeed {
  if (monitor.needsRelay) return { relays: RELAYS_WANTED, gaps: GAPS }
  const { state, addresses } = monitor.status()
  if (state !== 'direct') return NO_RELAYS
  const own = addresses.map((address) => multiaddr(address))
  const isForwarded = !addresses.some((address) => listened.includes(address))
  return { relays: 0, gaps: GAPS.filter((gap) => (gap === 'router' ? isForwarded : !fillsGap(gap, own))) }
}

export const NO_RELAYS: RelayNeed = { relays: 0, gaps: [] }
