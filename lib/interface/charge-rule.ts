/**
 * Why a call was charged what it was, as its receipt says:
 * - `success`: its API did what it is sold for; the listing's price.
 * - `partial-data`: a GraphQL answer with data and errors; in full, as if there were none.
 * - `cost`: what was asked for is priced by its cost; never more than the listing's price.
 * - `stream-open`: a stream of events began; what comes later changes nothing about it.
 * - `plan`: on the terms of a subscription; a tier's price, or a fee.
 * - `events`: further events of a stream, each at the listing's price for events.
 */
export const CHARGE_RULES = ['success', 'partial-data', 'cost', 'stream-open', 'events', 'plan'] as const

export type ChargeRule = (typeof CHARGE_RULES)[number]

/** Undefined for what an owner of another version may call it. */
export function chargeRuleIn(text: string | null | undefined): ChargeRule | undefined {
  return CHARGE_RULES.find((rule) => rule === text)
}
