import { type ApiId, asSoukError, type Atoms, SoukError } from '../../lib/index.ts'
import type {
  OwnSubscription,
  Souk,
  SubscribeInit,
  SubscriptionChange,
  SubscriptionOptions,
  Subscriptions,
  SubscriptionTerms
} from '../../lib/interface/index.ts'
import type { SubscriptionEvents } from '../events/subscription-events.ts'
import type { Keys } from '../keys/keys.ts'
import { present } from '../present.ts'
import type { Purchase, Spending } from '../spending/spending.ts'
import type { Binding, Bindings } from './bindings.ts'

export interface SubscriptionServiceInit {
  readonly souk: Pick<Souk, 'resolve'>
  readonly subscriptions: Subscriptions
  readonly bindings: Bindings
  readonly spending: Pick<Spending, 'beginFee'>
  /** Gives providers a pseudonym instead of the account. */
  readonly keys: Pick<Keys, 'nameFor'>
  readonly newId: () => string
  /** Publishes each change. Default: no events. */
  readonly subscriptionEvents?: Pick<SubscriptionEvents, 'bought'>
}

/** A subscription request of an account. */
export type SubscribeRequest = Pick<SubscribeInit, 'api' | 'plan' | 'maxPrice' | 'maxFee' | 'dailyCap' | 'trial'>

export interface ChangeOptions {
  readonly signal?: AbortSignal | undefined
  /** As `SubscriptionOptions.feeWaitMs`. */
  readonly feeWaitMs?: number
}

/**
 * Subscriptions of accounts, and of the operator (`undefined`): one per listing. The cost of a change is reserved and captured from the
 * account’s balance, like that of a call. After a change has returned, all processes that share the store use it.
 */
export class SubscriptionService {
  readonly #init: SubscriptionServiceInit
  /** The money that accounts set aside while the result of a change is unknown, by subscription. */
  readonly #unsettled = new Map<string, Purchase>()
  /** Requests that an account has paid for, and whose change is not stored. A repeat needs no balance for them. */
  readonly #paid = new Set<string>()

  constructor(init: SubscriptionServiceInit) {
    this.#init = init
  }

  /**
   * Repeating a request continues it where it stopped, and does not pay twice.
   * @throws SoukError `invalid_request` if a subscription exists, and as `Subscriptions.subscribe` and `Purchase.reserve`
   */
  async subscribe(
    account: string | undefined,
    wish: SubscribeRequest,
    options: ChangeOptions = {}
  ): Promise<SubscriptionChange> {
    const { souk, subscriptions, bindings, keys, newId } = this.#init
    const { signed } = await souk.resolve(wish.api, present({ signal: options.signal }))
    const { id: api, manifest } = signed
    const nameOf = (account: string) =>
      Buffer.from(keys.nameFor({ id: account, account }, manifest.provider)).toString('hex')
    const before = await bindings.get(account, api)
    const known = before === undefined ? undefined : await subscriptions.get(before.subscription)
    if (known !== undefined && known.state !== 'canceled' && known.state !== 'incomplete') throw subscribed(known)
    const isSameAgain = before !== undefined && known?.state !== 'canceled'
    const binding: Binding = isSameAgain ? before : { api, subscription: newId() }
    // Bind before paying: after a crash, the account finds the binding and repeats the same request.
    if (!isSameAgain && !(await bindings.put(account, binding, before))) throw subscribedElsewhere(api)
    try {
      const change = await this.#paying(account, binding.subscription, options, (paid) =>
        subscriptions.subscribe(
          { ...wish, api, id: binding.subscription, ...(account === undefined ? {} : { account: nameOf(account) }) },
          paid
        )
      )
      await bindings.changed(account, api)
      return await this.#told(account, isSameAgain ? known : undefined, change)
    } catch (error) {
      if (!asSoukError(error).isChargeUnknown) await bindings.delete(account, api)
      throw error
    }
  }

  /** Newest first, including ended ones. */
  async list(account: string | undefined): Promise<readonly OwnSubscription[]> {
    const { subscriptions, bindings } = this.#init
    const bound = await bindings.list(account)
    const all = await Promise.all(bound.map(({ subscription }) => subscriptions.get(subscription)))
    return all.filter((each) => each !== undefined).sort((a, b) => b.createdAt - a.createdAt)
  }

  /** @throws SoukError `invalid_request` if this account has no such subscription */
  async get(account: string | undefined, id: string): Promise<OwnSubscription> {
    const bound = await this.#init.bindings.list(account)
    const isHeld = bound.some(({ subscription }) => subscription === id)
    const found = isHeld ? await this.#init.subscriptions.get(id) : undefined
    if (found === undefined) throw new SoukError('invalid_request', `There is no subscription ${id.slice(0, 80)}.`)
    return found
  }

  async change(
    account: string | undefined,
    id: string,
    terms: SubscriptionTerms,
    options: ChangeOptions = {}
  ): Promise<SubscriptionChange> {
    const before = await this.get(account, id)
    const { subscriptions, bindings } = this.#init
    const change = await this.#paying(account, id, options, (paid) => subscriptions.change(id, terms, paid))
    await bindings.changed(account, before.api)
    return this.#told(account, before, change)
  }

  /** Cancels at the end of the period, or at once. After that, the account pays per call again. */
  async cancel(
    account: string | undefined,
    id: string,
    now: boolean,
    options: ChangeOptions = {}
  ): Promise<SubscriptionChange> {
    const before = await this.get(account, id)
    const { api } = before
    const { subscriptions, bindings } = this.#init
    const change = await this.#paying(account, id, options, (paid) => subscriptions.cancel(id, { now, ...paid }))
    const { state, periodEnd } = change.subscription
    if (state === 'canceled') await bindings.delete(account, api)
    else await this.#rebind(account, { api, subscription: id, until: periodEnd })
    return this.#told(account, before, change)
  }

  async pause(account: string | undefined, id: string, options: ChangeOptions = {}): Promise<SubscriptionChange> {
    const before = await this.get(account, id)
    const { subscriptions, bindings } = this.#init
    const change = await this.#paying(account, id, options, (paid) => subscriptions.pause(id, paid))
    await bindings.changed(account, before.api)
    return this.#told(account, before, change)
  }

  async resume(account: string | undefined, id: string, options: ChangeOptions = {}): Promise<SubscriptionChange> {
    const before = await this.get(account, id)
    const change = await this.#paying(account, id, options, (paid) => this.#init.subscriptions.resume(id, paid))
    await this.#rebind(account, { api: before.api, subscription: id })
    return this.#told(account, before, change)
  }

  /** Pays for the next period if the last one has ended. Calls renew automatically. */
  async renew(account: string | undefined, id: string, options: ChangeOptions = {}): Promise<SubscriptionChange> {
    const before = await this.get(account, id)
    const change = await this.#paying(account, id, options, (paid) => this.#init.subscriptions.renew(id, paid))
    // If several calls find the period over, only one of them renews.
    return change.requestId === undefined ? change : this.#told(account, before, change)
  }

  async #told(
    account: string | undefined,
    before: OwnSubscription | undefined,
    change: SubscriptionChange
  ): Promise<SubscriptionChange> {
    await this.#init.subscriptionEvents?.bought(before, change.subscription, account)
    return change
  }

  async #rebind(account: string | undefined, binding: Binding): Promise<void> {
    const { bindings } = this.#init
    const before = await bindings.get(account, binding.api)
    if (before?.subscription === binding.subscription) await bindings.put(account, binding, before)
  }

  /**
   * Reserves the cost of a change before sending it, and captures the cost when the result is known. While it is unknown, the
   * account keeps it set aside: the owner may have charged this node.
   */
  async #paying(
    account: string | undefined,
    id: string,
    { signal, ...options }: ChangeOptions,
    ask: (options: SubscriptionOptions) => Promise<SubscriptionChange>
  ): Promise<SubscriptionChange> {
    const purchase = this.#unsettled.get(id) ?? this.#init.spending.beginFee(account)
    this.#unsettled.delete(id)
    const onPrice = (price: Atoms) => purchase.reserve(price)
    const told = new Set<string>()
    const onSettled = async (charged: Atoms, requestId: string) => {
      told.add(requestId)
      if (!this.#paid.has(requestId)) await pay(purchase, charged, requestId)
      this.#paid.add(requestId)
    }
    // A client that leaves must not hide the result of a change that its account pays for.
    const own = account === undefined ? { signal } : {}
    try {
      const change = await ask({ onPrice, onSettled, ...present({ ...options, ...own }) })
      for (const requestId of told) this.#paid.delete(requestId)
      // Paid by now. Frees the rest.
      purchase.release()
      return change
    } catch (thrown) {
      const error = asSoukError(thrown)
      if (error.isChargeUnknown) this.#unsettled.set(id, purchase)
      else purchase.release()
      throw purchase.explain(error)
    }
  }
}

/** Pays for a change that the owner has charged. @throws SoukError with an unknown charge: the change stays unsettled */
async function pay(purchase: Purchase, charged: Atoms, requestId: string): Promise<void> {
  try {
    await purchase.reserve(charged)
    await purchase.capture(charged, requestId)
  } catch (thrown) {
    const { code, message, members = {} } = asSoukError(thrown)
    throw new SoukError(code, message, { cause: thrown, members, isChargeUnknown: true })
  }
}

function subscribed({ id, plan, state }: OwnSubscription): SoukError {
  const detail = `A subscription to this API exists already, with the plan "${plan.id}" (${state}). Change it, or cancel it first.`
  return new SoukError('invalid_request', detail, { members: { subscription: id, reason: 'subscribed' } })
}

function subscribedElsewhere(api: ApiId): SoukError {
  return new SoukError('invalid_request', `Another request has just subscribed this account to ${api}.`)
}
