import type { AdapterReply } from '../interface/adapter.ts'
import type { IncomingCall } from '../interface/call.ts'
import type { QuotaReservation } from '../interface/plan-service.ts'
import type { Outcome, Reservation, Settled } from '../interface/payment-scheme.ts'

/** The call uses a subscription, or manages one. */
export function isUnderPlan({ service, subscription }: IncomingCall): boolean {
  return service !== undefined || subscription !== undefined
}

/** Charges the plan's price and counts the call in the same commit. */
export async function settleUnderPlan(
  { success }: AdapterReply,
  outcome: Outcome,
  reservation: Reservation,
  quotaReservation: QuotaReservation
): Promise<Settled> {
  if (!success) {
    const settled = await reservation.release(outcome)
    await quotaReservation.end(false)
    return settled
  }
  const due = quotaReservation.due?.() ?? quotaReservation.price
  const settled = await reservation.capture({ ...outcome, rule: 'plan' }, due, () => quotaReservation.capture())
  await quotaReservation.end(true)
  return settled
}
