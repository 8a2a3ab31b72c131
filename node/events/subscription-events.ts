import type { OwnSubscription, Quota, Subscription } from '../../lib/interface/index.ts'
import type { EventData } from './event-types.ts'
import type { Events } from './events.ts'

type Happened = 'created' | 'renewed' | 'changed' | 'canceled'

/** The event of a change to a subscription; undefined if the change needs none. */
function happenedTo(before: Subscription | undefined, after: Subscription): Happened | undefined {
  if (before === undefined || before.state === 'incomplete') return after.state === 'incomplete' ? undefined : 'created'
  const isEnding = after.state === 'canceling' || after.state === 'canceled'
  if (isEnding && after.state !== before.state) return 'canceled'
  if (after.periodStart >= before.periodEnd) return 'renewed'
  const isOther = after.state !== before.state || after.plan.id !== before.plan.id || after.nextPlan !== before.nextPlan
  return isOther ? 'changed' : undefined
}

/** Publishes events about subscriptions that this node bought or sold. */
export class SubscriptionEvents {
  readonly #events: Pick<Events, 'emit'>

  constructor(events: Pick<Events, 'emit'>) {
    this.#events = events
  }

  /** @param account - of this node; absent for the node’s own subscription */
  async bought(
    before: OwnSubscription | undefined,
    after: OwnSubscription,
    account: string | undefined
  ): Promise<void> {
    const what = happenedTo(before, after)
    if (what !== undefined) await this.#events.emit(`subscription.${what}`, about('consumer', after, account))
  }

  async sold(before: Subscription | undefined, after: Subscription): Promise<void> {
    const what = happenedTo(before, after)
    if (what !== undefined) await this.#events.emit(`subscription.${what}`, about('owner', after, after.account))
  }
}

/** Publishes that calls have used this percentage of a subscription’s quota. */
export async function publishQuota(
  events: Pick<Events, 'emit'>,
  level: 85 | 100,
  subscription: string,
  { api, quota }: { readonly api: string; readonly quota: Quota }
): Promise<void> {
  const { included = 0, used, resetsAt } = quota
  const type = level === 100 ? 'quota.reached' : 'quota.nearly_reached'
  await events.emit(type, { subscription, api, included, used, resets_at: new Date(resetsAt).toISOString() })
}

function about(
  role: 'consumer' | 'owner',
  { id, api, plan, state, periodEnd }: Subscription,
  account: string | undefined
): EventData<'subscription.created'> {
  const period_end = new Date(periodEnd).toISOString()
  return { role, subscription: id, api, plan: plan.id, state, account: account ?? null, period_end }
}
