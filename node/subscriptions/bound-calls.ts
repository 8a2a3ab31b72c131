import { parseApiRef, SoukError } from '../../lib/index.ts'
import type { Clock, Subscriptions } from '../../lib/interface/index.ts'
import type { CallDraft } from '../call-draft.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import { present } from '../present.ts'
import type { Binding, Bindings } from './bindings.ts'
import type { SubscriptionService } from './subscription-service.ts'

export interface BoundCallsInit {
  readonly bindings: Pick<Bindings, 'find'>
  readonly subscriptions: Pick<Subscriptions, 'get'>
  readonly service: Pick<SubscriptionService, 'renew'>
  readonly clock: Clock
}

/** The parts of a call that a subscription changes. */
type BoundCall = Pick<CallDraft, 'api' | 'subscription' | 'onFee' | 'signal'>

/** Makes the calls of an account use its subscription to the API. */
export class BoundCalls {
  readonly #init: BoundCallsInit

  constructor(init: BoundCallsInit) {
    this.#init = init
  }

  /**
   * Immediate for a name that is known to have no subscription.
   * @throws SoukError `name_conflict`, and as `SubscriptionService.renew` if the period is over; thrown or rejected
   */
  bind(account: KeyHolder['account'], call: BoundCall): void | Promise<void> {
    const ref = typeof call.api === 'string' ? parseApiRef(call.api) : call.api
    const binding = this.#init.bindings.find(account, ref)
    if (binding instanceof Promise) return binding.then((found) => found && this.#bind(account, call, found))
    return binding === undefined ? undefined : this.#bind(account, call, binding)
  }

  async #bind(account: KeyHolder['account'], call: BoundCall, { api, subscription: id }: Binding): Promise<void> {
    const { subscriptions, service, clock } = this.#init
    const held = await subscriptions.get(id)
    // Not confirmed yet, which may wait minutes for a deposit. Until then the account pays per call, as before.
    if (held === undefined || held.state === 'incomplete') return
    if (held.state === 'canceled') {
      const detail = 'The subscription to this API is not active. Subscribe again, or cancel it to pay per call.'
      throw new SoukError('subscription_inactive', detail, { members: { subscription: id } })
    }
    // Renew separately from the call, so that the fee is charged whatever the result of the call. It also settles an earlier change,
    // which the call itself would do without the account.
    const isOver = held.state !== 'canceling' && clock.now() >= held.periodEnd
    if (isOver || held.isUnsettled === true) await service.renew(account, id, present({ signal: call.signal }))
    call.api = parseApiRef(api)
    call.subscription = id
    call.onFee = () => {
      throw new SoukError('subscription_inactive', 'The period of the subscription has just ended. Try again.')
    }
  }
}
