import { SoukError } from '../../lib/index.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { SubscriptionService } from '../subscriptions/subscription-service.ts'
import { changeView, subscriptionView } from '../subscriptions/view.ts'
import { termsOf, subscribeRequestOf } from '../subscriptions/subscribe-request.ts'
import type { MarketInput } from './market-tools.ts'

type Told = Record<string, unknown>

/**
 * Subscription tools of agents: for the account of a key, or for the operator. A key that can only call may read subscriptions but not
 * change them.
 */
export class SubscriptionTools {
  readonly #service: SubscriptionService
  readonly #holder: KeyHolder | undefined
  readonly #now: () => number

  constructor(service: SubscriptionService, holder: KeyHolder | undefined, now: () => number) {
    this.#service = service
    this.#holder = holder
    this.#now = now
  }

  async list(): Promise<Told> {
    const held = await this.#service.list(this.#holder?.account)
    return { subscriptions: held.map((each) => subscriptionView(each, this.#now())) }
  }

  async subscribe(input: MarketInput<'souk_subscribe'>, signal?: AbortSignal): Promise<Told> {
    this.#checkMayChange()
    const change = await this.#service.subscribe(this.#holder?.account, subscribeRequestOf(input), { signal })
    return { ...changeView(change, this.#now()) }
  }

  async change(
    { subscription, action, ...terms }: MarketInput<'souk_change_subscription'>,
    signal?: AbortSignal
  ): Promise<Told> {
    this.#checkMayChange()
    const account = this.#holder?.account
    const change =
      action === 'cancel'
        ? await this.#service.cancel(account, subscription, false, { signal })
        : action === 'change'
          ? await this.#service.change(account, subscription, termsOf(terms), { signal })
          : await this.#service[action](account, subscription, { signal })
    return { ...changeView(change, this.#now()) }
  }

  /** @throws SoukError `key_not_permitted` */
  #checkMayChange(): void {
    const holder = this.#holder
    if (holder === undefined || (holder.account !== undefined && holder.manages === true)) return
    throw new SoukError('key_not_permitted', 'This key can only make calls. Use a key that manages the account.')
  }
}
