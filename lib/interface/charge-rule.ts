/**
 * The reason for a call's charge, as its receipt states it:
 * - `success`: the call succeeded, at the listing's price.
 * - `partial-data`: a GraphQL response with data and errors, at the full price.
 * - `cost`: priced by the cost of the request, at most the listing's price.
 * - `stream-open`: a stream of events started. Later events do not change this charge.
 * - `plan`: under a subscription, at a tier's price, or a fee.
 * - `events`: further events of a stream, each at the listing's price per event.
 */
export const CHARGE_RULES = ['success', 'partial-data', 'cost', 'stream-open', 'events', 'plan'] as const

export type ChargeRule = (typeof CHARGE_RULES)[number]

/** Undefined for a rule that only another version knows. */
export function chargeRuleIn(text: string | null | undefined): ChargeRule | undefined {
  return CHARGE_RULES.find((rule) => rule === text)
}
