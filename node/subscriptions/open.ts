import { formatRequestId, requestIds, systemRandom } from '../../lib/index.ts'
import type { Souk } from '../../lib/interface/index.ts'
import { Bindings, type BindingsInit } from './bindings.ts'
import { BoundCalls } from './bound-calls.ts'
import { SubscriptionService, type SubscriptionServiceInit } from './subscription-service.ts'

export interface SubscriptionsInit
  extends Omit<BindingsInit, 'self'>,
    Pick<SubscriptionServiceInit, 'keys' | 'spending' | 'subscriptionEvents'> {
  readonly souk: Pick<Souk, 'resolve' | 'subscriptions' | 'status'>
}

/** The subscription parts that the ingress, MCP and the admin API use. */
export interface SubscriptionParts {
  readonly bindings: Bindings
  readonly service: SubscriptionService
  readonly boundCalls: BoundCalls
}

export function openSubscriptions({
  souk,
  documents,
  spending,
  clock,
  keys,
  coherence,
  subscriptionEvents
}: SubscriptionsInit): SubscriptionParts {
  const { subscriptions } = souk
  const bindings = new Bindings({ clock, documents, self: souk.status().peer, ...(coherence && { coherence }) })
  const ids = requestIds(clock, systemRandom)
  const newId = () => formatRequestId(ids.next())
  const service = new SubscriptionService({
    souk,
    subscriptions,
    bindings,
    spending,
    keys,
    newId,
    ...(subscriptionEvents && { subscriptionEvents })
  })
  return { bindings, service, boundCalls: new BoundCalls({ bindings, subscriptions, service, clock }) }
}
