import type { Atoms } from '../base/money.ts'
import type { AdapterReply } from './adapter.ts'
import type { IncomingCall } from './call.ts'
import type { DocumentPut } from './ledger.ts'
import type { SignedManifest } from './manifest.ts'
import type { Plan } from './plan.ts'
import type { Quota } from './subscription.ts'

/** A call on a subscription's terms, or one about the subscription itself, as its owner lets it in. `end` is called once. */
export interface PlanTicket {
  /** What it costs where it succeeds. */
  readonly price: Atoms
  /** Answers in place of the API. */
  readonly answer?: () => AdapterReply
  /** It succeeded, and counts: what is to be written with its record. */
  capture(): readonly DocumentPut[]
  /** The record is durable; or the call failed, or was not written. */
  end(isCaptured: boolean): void | Promise<void>
  /** How much of the period is used. */
  quota(): Quota | undefined
}

/** The owner's side of plans: knows its subscriptions, and counts their calls. */
export interface PlanDesk {
  /**
   * The plan that a call is made under, where its subscription is at hand and is this consumer's: the plan's own limits hold for the
   * call then, before it is admitted.
   */
  planOf(signed: SignedManifest, call: IncomingCall): Plan | undefined
  /**
   * Costs no turn of the event loop where what has to be known is at hand.
   * @throws SoukError `subscription_inactive`, `quota_exceeded`, `price_exceeds_limit`, `invalid_request`, `api_retired`,
   *   `api_paused`, `payment_required`; nothing happened then
   */
  admit(signed: SignedManifest, call: IncomingCall): PlanTicket | Promise<PlanTicket>
}
