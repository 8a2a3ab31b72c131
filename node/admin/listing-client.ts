import type { ApiView, MappingCheckView, MappingInput, MappingView, RegisteredView } from './api.ts'
import { queryOf } from './query.ts'
import type {
  DeprecationInput,
  PlanInput,
  PlansView,
  RevisionInput,
  SubscribeInput,
  SubscribersInput,
  SubscribersView,
  SubscriptionChangeView,
  SubscriptionTermsInput,
  SubscriptionView
} from './subscription-api.ts'

/** Asks the admin API, and reads its answer. */
type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** The part of the client that is about listings, their plans, and subscriptions to them. */
export interface ListingClient {
  pause(name: string): Promise<ApiView>
  resume(name: string): Promise<ApiView>
  mapping(name: string): Promise<MappingView>
  setMapping(name: string, input: MappingInput): Promise<RegisteredView>
  checkMapping(name: string, input: MappingInput): Promise<MappingCheckView>
  revise(name: string, input: RevisionInput): Promise<ApiView>
  deprecate(name: string, input: DeprecationInput): Promise<ApiView>
  retire(name: string): Promise<ApiView>
  plans(name: string): Promise<PlansView>
  setPlan(name: string, plan: string, input: PlanInput): Promise<PlansView>
  removePlan(name: string, plan: string): Promise<PlansView>
  subscribe(input: SubscribeInput): Promise<SubscriptionChangeView>
  subscriptions(): Promise<{ subscriptions: readonly SubscriptionView[] }>
  subscription(id: string): Promise<SubscriptionView>
  changeSubscription(id: string, input: SubscriptionTermsInput): Promise<SubscriptionChangeView>
  cancelSubscription(id: string, now: boolean): Promise<SubscriptionChangeView>
  moveSubscription(id: string, move: 'pause' | 'resume' | 'renew'): Promise<SubscriptionChangeView>
  subscribers(input: SubscribersInput): Promise<SubscribersView>
}

export function listingClient(json: Ask): ListingClient {
  const api = (name: string) => `/apis/${encodeURIComponent(name)}`
  const plan = (name: string, id: string) => `${api(name)}/plans/${encodeURIComponent(id)}`
  const subscription = (id: string) => `/subscriptions/${encodeURIComponent(id)}`
  return {
    pause: (name) => json('POST', `${api(name)}/pause`),
    resume: (name) => json('POST', `${api(name)}/resume`),
    mapping: (name) => json('GET', `${api(name)}/mapping`),
    setMapping: (name, input) => json('PUT', `${api(name)}/mapping`, input),
    checkMapping: (name, input) => json('POST', `${api(name)}/mapping/check`, input),
    revise: (name, input) => json('PATCH', api(name), input),
    deprecate: (name, input) => json('POST', `${api(name)}/deprecate`, input),
    retire: (name) => json('POST', `${api(name)}/retire`),
    plans: (name) => json('GET', `${api(name)}/plans`),
    setPlan: (name, id, input) => json('PUT', plan(name, id), input),
    removePlan: (name, id) => json('DELETE', plan(name, id)),
    subscribe: (input) => json('POST', '/subscriptions', input),
    subscriptions: () => json('GET', '/subscriptions'),
    subscription: (id) => json('GET', subscription(id)),
    changeSubscription: (id, input) => json('PATCH', subscription(id), input),
    cancelSubscription: (id, now) => json('DELETE', `${subscription(id)}?now=${now}`),
    moveSubscription: (id, move) => json('POST', `${subscription(id)}/${move}`),
    subscribers: (input) => json('GET', `/subscribers?${queryOf(input)}`)
  }
}
