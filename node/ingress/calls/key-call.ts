import {
  asSoukError,
  type Atoms,
  formatRequestId,
  formatUsdc,
  parseApiRef,
  parseUsdc,
  SoukError
} from '../../../lib/index.ts'
import type { ApiRef, CallReply, EventBudget, RateLimitStatus, Souk } from '../../../lib/interface/index.ts'
import type { KeyLimiter } from '../../keys/key-limiter.ts'
import type { Keys } from '../../keys/keys.ts'
import { permitted } from '../../keys/scope.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import type { Purchase, Spending } from '../../spending/spending.ts'
import type { BoundCalls } from '../../subscriptions/bound-calls.ts'
import type { CallDraft } from '../../call-draft.ts'

export interface KeyCalls {
  readonly souk: Pick<Souk, 'call'>
  readonly spending: Pick<Spending, 'begin'>
  readonly keys: Pick<Keys, 'nameFor'>
  /** One for all doors. */
  readonly keyLimiter: KeyLimiter
  /** Sends calls with the subscriptions there are. Default: there are none. */
  readonly boundCalls?: Pick<BoundCalls, 'bind'>
}

/** Answers a call. `settle` books what it cost, before anything is sent; `rate` is where the key stands with its own limit. */
export type Deliver<T> = (reply: CallReply, settle: () => void | Promise<void>, rate?: RateLimitStatus) => Promise<T>

/**
 * A call for the holder of a key, by whichever door it came in: never dearer than the key allows, within its day's cap and its account's
 * balance, and charged to them for a response that is delivered only. Without a holder it is paid by what comes with it.
 * @throws SoukError `key_not_permitted`, `rate_limited`, `overloaded`; as `BoundCalls.bind`, `Souk.call`, `Spending.begin`, `Purchase.reserve` and `deliver`
 */
export async function callWithKey<T>(
  calls: KeyCalls,
  holder: KeyHolder | undefined,
  call: CallDraft,
  deliver: Deliver<T>
): Promise<T> {
  const permit = calls.keyLimiter.enter(holder)
  try {
    return await callAdmitted(calls, holder, call, (reply, settle) => deliver(reply, settle, permit.rate))
  } finally {
    permit.leave()
  }
}

/** As `callWithKey`, for a call that has passed the gate. */
export async function callAdmitted<T>(
  { souk, spending, keys, boundCalls }: Omit<KeyCalls, 'keyLimiter'>,
  holder: KeyHolder | undefined,
  call: CallDraft,
  deliver: Deliver<T>
): Promise<T> {
  if (holder !== undefined) call.api = permitted(holder, refOf(call.api))
  // What comes with a payment of its own goes with nobody's subscription.
  const binding = call.payment === undefined ? boundCalls?.bind(holder?.account, call) : undefined
  if (binding !== undefined) await binding
  const purchase = holder === undefined ? undefined : spending.begin(holder)
  if (holder !== undefined) {
    call.maxPrice = lower(call.maxPrice, holder.maxPrice)
    call.onPrice = (price) => purchase?.reserve(price)
    call.consumer = (provider) => keys.nameFor(holder, provider)
    // One stranger's response is no other's.
    if (holder.isPublic === true) delete call.idempotencyKey
    call.eventBudget = eventBudget(spending, holder)
  }
  // It goes on without its client, who may come again for the response and is not charged then.
  if (call.idempotencyKey !== undefined) delete call.signal
  try {
    const reply = await souk.call(call)
    const delivered = await deliver(reply, () => purchase?.capture(reply.charged, formatRequestId(reply.requestId)))
    // Where nobody was there to be answered; after a capture it is nothing.
    purchase?.release(reply.charged > 0n)
    return delivered
  } catch (thrown) {
    const error = asSoukError(thrown)
    purchase?.release(error.isChargeUnknown)
    const told = purchase?.explain(error) ?? error
    throw holder?.account === undefined ? told : notCharged(told)
  }
}

function refOf(api: string | ApiRef): ApiRef {
  return typeof api === 'string' ? parseApiRef(api) : api
}

/** Events of a stream are bought as they come, each payment like a call of its own. */
function eventBudget(spending: KeyCalls['spending'], holder: KeyHolder): EventBudget {
  let purchase: Purchase | undefined
  return {
    reserve: (most) => (purchase = spending.begin(holder)).reserve(most),
    capture: (charged, requestId) => purchase?.capture(charged, formatRequestId(requestId)),
    release: (mayBeCharged) => purchase?.release(mayBeCharged)
  }
}

/** What a request allows, but never more than is allowed it. */
export function lower(asked: string | undefined, most: Atoms): string {
  return asked !== undefined && parseUsdc(asked) < most ? asked : formatUsdc(most)
}

/** Whatever the owner charged this node for, an account is charged for responses only. */
function notCharged(error: SoukError): SoukError {
  if (!error.isChargeUnknown) return error
  const { code, message, status, source, members, retryAfterMs } = error
  return new SoukError(code, message, {
    cause: error,
    status,
    ...(source === undefined ? {} : { source }),
    ...(members === undefined ? {} : { members }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs })
  })
}
