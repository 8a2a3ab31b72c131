import type { Atoms } from '../base/money.ts'
import type { AdapterReply } from './adapter.ts'
import type { IncomingCall } from './call.ts'
import type { DocumentPut } from './ledger.ts'
import type { SignedManifest } from './manifest.ts'
import type { Plan } from './plan.ts'
import type { Quota } from './subscription.ts'

/**
 * Quota reservation of a call under a subscription, or of a call that manages a subscription. Call `end` exactly once.
 */
export interface QuotaReservation {
  /** Price of the call if it succeeds. With `due`, the highest. */
  readonly price: Atoms
  /** Price of a success, at the time of `capture`. Absent: `price`. */
  readonly due?: () => Atoms
  /** Returns the response instead of calling the API. */
  readonly answer?: () => AdapterReply
  /** Counts a successful call. Returns the documents to write with its record. */
  capture(): readonly DocumentPut[]
  /**
   * Ends the reservation: `isCaptured` is true once the record is durable, false where the call failed or was not
   * recorded.
   */
  end(isCaptured: boolean): void | Promise<void>
  /** Quota used in the current period. */
  quota(): Quota | undefined
}

/** The owner's plan service: it stores sold subscriptions and counts their calls. */
export interface PlanService {
  /**
   * The plan of a call, where its subscription is cached and belongs to this consumer. The plan's limits then apply
   * before admission.
   */
  planOf(signed: SignedManifest, call: IncomingCall): Plan | undefined
  /**
   * Returns without a promise where the subscription is cached.
   * @throws SoukError `subscription_inactive`, `quota_exceeded`, `price_exceeds_limit`, `invalid_request`,
   *   `api_retired`, `api_paused`, `payment_required`; nothing has changed then
   */
  admit(signed: SignedManifest, call: IncomingCall): QuotaReservation | Promise<QuotaReservation>
}
