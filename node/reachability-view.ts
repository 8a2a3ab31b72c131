import { reachabilityText } from '../lib/index.ts'
import type { Reachability } from '../lib/interface/index.ts'
import type { StatusView } from './admin/api.ts'

/** How peers reach this node, as the admin API shows it. */
export function reachabilityView(reach: Reachability): StatusView['reachability'] {
  const { state, addresses, isConfirmed, relays, clockAheadMs } = reach
  const { text, hint } = reachabilityText(reach)
  return {
    state,
    text,
    hint: hint ?? null,
    addresses: [...addresses],
    confirmed: isConfirmed,
    relays: [...relays],
    clock_ahead_ms: clockAheadMs === undefined ? null : Math.round(clockAheadMs)
  }
}
