import { CAP_LEASE_FIRST_PART, CAP_LEASES } from './limits/pay.ts'
import type { Atoms } from './money.ts'

/**
 * Size of the next lease of a daily cap. Leases start small and double, so that a killed process wastes about as much as it
 * spent. Otherwise a node that is killed a few times a day would reach its cap without spending it.
 * @param last the size of this process's last lease; 0 before the first
 */
export function leaseSize(cap: Atoms, last: Atoms): Atoms {
  const first = part(cap, CAP_LEASE_FIRST_PART)
  const most = part(cap, CAP_LEASES)
  const next = last === 0n ? first : last * 2n
  return next < most ? next : most
}

const part = (cap: Atoms, parts: bigint): Atoms => (cap + parts - 1n) / parts
