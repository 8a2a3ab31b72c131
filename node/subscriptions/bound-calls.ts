import { parseApiRef, SoukError } from '../../lib/index.ts'
import type { Clock, Subscriptions } from '../../lib/interface/index.ts'
import type { CallDraft } from '../call-draft.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { Binding, Bindings } from './bindings.ts'
import type { SubscriptionService } from './subscription-service.ts'

export interface BoundCallsInit {
  readonly bindings: Pick<Bindings, 'find'>
  readonly subscriptions: Pick<Subscriptions, 'get'>
  readonly service: Pick<SubscriptionService, 'renew'>
  readonly clock: Clock
}

/** What of a call is changed where it goes with a subscription. */
type BoundCall = Pick<CallDraft, 'api' | 'subscription' | 'onFee' | 'signal'>

/** Has the calls of an account go with the subscription it has to the API. */
export class BoundCalls {
  readonly #init: BoundCallsInit

  constructor(init: BoundCallsInit) {
    this.#init = init
  }

  /**
   * At once for a name that is known to have none.
   * @throws SoukError `name_conflict`, and as `SubscriptionService.renew` where the period is over; thrown or rejected
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
    if (held === undefined || held.state === 'canceled' || held.state === 'incomplete') {
      const detail = 'The subscription to this API is not active: subscribe again, or cancel it to pay call by call.'
      throw new SoukError('subscription_inactive', detail, { members: { subscription: id } })
    }
    // Apart from the call, so that its fee is charged whatever becomes of the call.
    if (held.state !== 'canceling' && clock.now() >= held.periodEnd) await service.renew(account, id, call.signal)
    call.api = parseApiRef(api)
    call.subscription = id
    call.onFee = () => {
      throw new SoukError('subscription_inactive', 'The period of the subscription has just ended: try again.')
    }
  }
}
