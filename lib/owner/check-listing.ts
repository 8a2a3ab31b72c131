import {
  AMOUNT,
  checkMembers,
  FLAG,
  type MemberRules,
  NUMBER,
  OBJECT,
  OBJECTS,
  TEXT,
  TEXTS
} from '../base/check-members.ts'
import type { PlanInit } from '../interface/plan.ts'
import type { ListingInit } from '../interface/souk.ts'

const RULES: MemberRules<ListingInit> = {
  name: TEXT,
  price: AMOUNT,
  pricePerEvent: AMOUNT,
  eventsIncluded: NUMBER,
  payout: TEXT,
  description: TEXT,
  tags: TEXTS,
  idempotent: FLAG,
  plans: OBJECTS,
  payPerCall: FLAG,
  major: NUMBER,
  requestBytesMax: NUMBER,
  forwardsPaths: FLAG,
  rateLimit: OBJECT,
  inFlightPerConsumer: NUMBER,
  failuresPerConsumer: OBJECT
}

const PLAN_RULES: MemberRules<PlanInit> = {
  id: TEXT,
  name: TEXT,
  description: TEXT,
  fee: AMOUNT,
  period: TEXT,
  trialDays: NUMBER,
  included: NUMBER,
  overage: OBJECTS,
  rateLimit: OBJECT,
  inFlightMax: NUMBER
}

/** Types of the members. The manifest's rules check their ranges. @throws SoukError `invalid_request` */
export function checkListing(init: ListingInit): void {
  checkMembers('A listing', init, RULES)
  for (const plan of init.plans ?? []) checkMembers('A plan', plan, PLAN_RULES)
}
