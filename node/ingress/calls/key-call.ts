import {
  asSoukError,
  type Atoms,
  formatRequestId,
  formatUsdc,
  limits,
  parseApiRef,
  parseUsdc,
  SoukError
} from '../../../lib/index.ts'
import type { ApiRef, CallReply, EventBudget, RateLimitStatus, Souk } from '../../../lib/interface/index.ts'
import type { KeyLimiter } from '../../keys/key-limiter.ts'
import type { Keys } from '../../keys/keys.ts'
import { permitted } from '../../keys/scope.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import type { Budget, Purchase, Spending } from '../../spending/spending.ts'
import type { BoundCalls } from '../../subscriptions/bound-calls.ts'
import type { CallDraft } from '../../call-draft.ts'

export interface KeyCalls {
  readonly souk: Pick<Souk, 'call'>
  readonly spending: Pick<Spending, 'begin'>
  readonly keys: Pick<Keys, 'nameFor'>
  /** Shared by the ingress, MCP and the other entrances. */
  readonly keyLimiter: KeyLimiter
  /** Binds calls to subscriptions. Default: no subscriptions. */
  readonly boundCalls?: Pick<BoundCalls, 'bind'>
}

/** Delivers a response. `settle` records the cost before anything is sent; `rate` is the key’s rate-limit status. */
export type Deliver<T> = (reply: CallReply, settle: () => void | Promise<void>, rate?: RateLimitStatus) => Promise<T>

/**
 * Makes a call for the holder of a key. Enforces the key’s price limit, its daily cap and its account’s balance. Charges the account only
 * for a delivered response. Without a holder, the payment in the call pays.
 * @param budget - whose cap counts the call. Default: the holder's
 * @throws SoukError `key_not_permitted`, `rate_limited`, `overloaded`; as `BoundCalls.bind`, `Souk.call`, `Spending.begin`,
 * `Purchase.reserve` and `deliver`
 */
export async function callWithKey<T>(
  calls: KeyCalls,
  holder: KeyHolder | undefined,
  call: CallDraft,
  deliver: Deliver<T>,
  budget: Budget | undefined = holder
): Promise<T> {
  const permit = calls.keyLimiter.enter(holder)
  try {
    return await callAdmitted(calls, holder, call, (reply, settle) => deliver(reply, settle, permit.rate), budget)
  } finally {
    permit.leave()
  }
}

/** Like `callWithKey`, for a call that already holds its permit. */
export async function callAdmitted<T>(
  { souk, spending, keys, boundCalls }: Omit<KeyCalls, 'keyLimiter'>,
  holder: KeyHolder | undefined,
  call: CallDraft,
  deliver: Deliver<T>,
  budget: Budget | undefined = holder
): Promise<T> {
  if (holder !== undefined) call.api = permitted(holder, refOf(call.api))
  // A call with its own payment uses no subscription.
  const binding = call.payment === undefined ? boundCalls?.bind(holder?.account, call) : undefined
  if (binding !== undefined) await binding
  const purchase = budget === undefined ? undefined : spending.begin(budget)
  if (budget !== undefined) {
    call.onPrice = (price) => purchase?.reserve(price)
    call.eventBudget = new KeyEventBudget(spending, budget)
  }
  if (holder !== undefined) {
    call.maxPrice = lower(call.maxPrice, holder.maxPrice)
    call.consumer = (provider) => keys.nameFor(holder, provider)
    // Holders of the public key are different people: do not replay a response between them.
    if (holder.isPublic === true) delete call.idempotencyKey
  }
  // Let the call finish without its client, which may repeat it later to get the response uncharged.
  if (call.idempotencyKey !== undefined) delete call.signal
  let reply: CallReply | undefined
  try {
    reply = await souk.call(call)
    const { charged, requestId } = reply
    const delivered = await deliver(reply, () => purchase?.capture(charged, formatRequestId(requestId)))
    // Applies if no client was left to receive the response. After a capture this does nothing.
    purchase?.release(charged > 0n)
    return delivered
  } catch (thrown) {
    const failure = asSoukError(thrown)
    // A response that cannot be delivered is not charged to a key, but the call has run, and its own payment is spent.
    const isPaid = call.payment !== undefined && reply !== undefined && reply.charged > 0n
    const error = reply === undefined ? failure : withCharge(failure, failure.isChargeUnknown || isPaid)
    purchase?.release(error.isChargeUnknown)
    if (call.payment !== undefined && error.isChargeUnknown) throw unsettled(error)
    const told = purchase?.explain(error) ?? error
    throw holder?.account === undefined ? told : notCharged(told)
  }
}

export function refOf(api: string | ApiRef): ApiRef {
  return typeof api === 'string' ? parseApiRef(api) : api
}

/**
 * Pays for events of a stream as they arrive. Each payment is reserved and captured like a call. A class instead of closures, because each
 * call makes one.
 */
class KeyEventBudget implements EventBudget {
  readonly #spending: KeyCalls['spending']
  readonly #budget: Budget
  #purchase: Purchase | undefined

  constructor(spending: KeyCalls['spending'], budget: Budget) {
    this.#spending = spending
    this.#budget = budget
  }

  reserve(most: Atoms): void | Promise<void> {
    this.#purchase = this.#spending.begin(this.#budget)
    return this.#purchase.reserve(most)
  }

  capture(charged: Atoms, requestId: Uint8Array): void | Promise<void> {
    return this.#purchase?.capture(charged, formatRequestId(requestId))
  }

  release(mayBeCharged: boolean): void {
    this.#purchase?.release(mayBeCharged)
  }
}

/** The outcome of a call with its own payment is unknown. Its provider finds it when the payment comes again. */
function unsettled(cause: SoukError): SoukError {
  const detail = 'It is not known whether the call was paid. Send the same payment again to get the response.'
  const { source, retryAfterMs = limits.PAYMENT_UNKNOWN_RETRY_MS } = cause
  return new SoukError('settlement_pending', detail, { cause, source, retryAfterMs, isChargeUnknown: true })
}

/** Returns the requested limit, but at most `most`. */
export function lower(asked: string | undefined, most: Atoms): string {
  return asked !== undefined && parseUsdc(asked) < most ? asked : formatUsdc(most)
}

/** An account pays only for responses, even if this node may have been charged. */
const notCharged = (error: SoukError): SoukError => (error.isChargeUnknown ? withCharge(error, false) : error)

/** The error of a call that was accepted. */
function withCharge(error: SoukError, isChargeUnknown: boolean): SoukError {
  const { code, message, status, source, members, retryAfterMs } = error
  return new SoukError(code, message, { cause: error, status, source, members, retryAfterMs, isChargeUnknown })
}
