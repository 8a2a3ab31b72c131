import { type ApiRef, parseApiRef } from '../base/api-name.ts'
import { deadline } from '../base/clock.ts'
import { logOf } from '../base/component-log.ts'
import { SoukError } from '../base/errors.ts'
import { CLAIMANTS_AT_ONCE, LOOKUP_MS } from '../base/limits/directory.ts'
import { requestIds } from '../base/request-id.ts'
import { Consumer } from '../call/consumer.ts'
import { UsedKeys } from '../call/used-keys.ts'
import type { Caller } from '../interface/call.ts'
import type { Directory, Resolution, ResolveOptions } from '../interface/directory.ts'
import type { Link } from '../interface/link.ts'
import type { CallInit, CallReply } from '../interface/souk.ts'
import type { Store } from '../interface/store.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import type { SoukOptions } from '../options.ts'
import { DailySpend } from '../plans/daily-spend.ts'
import { OwnRecords } from '../plans/own-records.ts'
import { OwnSubscriptions } from '../plans/own-subscriptions.ts'
import { PlanCaller } from '../plans/plan-caller.ts'
import type { PlanService } from '../plans/plan-service.ts'
import { WarmLinks } from '../plans/warm-links.ts'
import type { Discovery } from '../resolve/catalogue/discovery.ts'
import type { LocalManifests } from '../resolve/manifest/manifest-exchange.ts'
import { createResolver, type PinningResolver } from '../resolve/resolver.ts'
import type { Joining } from '../resolve/repeat-lookup.ts'
import type { Part } from './part.ts'
import type { SoukComponents } from './souk-components.ts'

export interface BuyingInit {
  readonly components: Pick<SoukComponents, 'logger'>
  readonly options: SoukOptions
  readonly store: Store
  readonly link: Link
  readonly directory: Directory
  readonly discovery: Discovery
  readonly paymentScheme: PaymentScheme
  /** Calls owners, this node included. */
  readonly caller: Caller
  /** The plan service of this node, which sells to it without a call. */
  readonly planService: Pick<PlanService, 'sold'>
  /** Manifests that this node serves. */
  readonly local: LocalManifests
  readonly joining: Joining
}

/** The consumer side of a node: resolves APIs, pays for calls, and holds subscriptions. */
export interface Buying extends Part {
  readonly resolver: PinningResolver
  readonly subscriptions: OwnSubscriptions
  /** Start them when this node is on the network. */
  readonly warmLinks: WarmLinks
  call(init: CallInit): Promise<CallReply>
  /** @throws SoukError `lookup_timeout`, and errors of the resolver */
  resolve(api: string | ApiRef, options?: Partial<ResolveOptions>): Promise<Resolution>
  /** Runs a lookup with the time limit of lookups. @throws SoukError `lookup_timeout` */
  lookUp<T>(look: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createBuying(init: BuyingInit): Buying {
  const { options, store, link, directory, discovery, paymentScheme, caller, planService, local, joining } = init
  const { logger } = init.components
  const { clock, random, sharedStore, worth } = options
  const resolver = createResolver({
    directory,
    link,
    documents: store.documents,
    local,
    clock,
    random,
    joining,
    listed: (name) => store.listings.named(name, { limit: CLAIMANTS_AT_ONCE, now: clock.now() }),
    learn: (signed) => discovery.catalogue.learn(signed),
    log: logOf(logger, 'souk:resolve')
  })
  const ids = requestIds(clock, random)
  const consumer = new Consumer({
    clock,
    resolver,
    caller,
    paymentScheme,
    requestIds: ids,
    usedKeys: new UsedKeys({ clock, claims: (sharedStore ?? store).claims, self: link.self }),
    refusal: () => store.refusal?.(),
    log: logOf(logger, 'souk:call'),
    observe: (id, peer, outcome) => {
      discovery.observe(id, peer, outcome)
      if (outcome.isGood) worth?.answered(peer)
    }
  })
  const lookUp = async <T>(look: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const limit = deadline(clock, LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    try {
      return await look(limit.signal)
    } finally {
      limit.clear()
    }
  }
  const resolve: Buying['resolve'] = (api, options = {}) => {
    const ref = typeof api === 'string' ? parseApiRef(api) : api
    return lookUp((signal) => resolver.resolve(ref, { ...options, signal }), options.signal)
  }
  // Nodes that share a store also share the subscriptions they hold, because an account may call through any of them.
  const held = sharedStore?.documents ?? store.documents
  const records = new OwnRecords(held, clock, sharedStore?.signals)
  const spend = new DailySpend(held, clock)
  const call = consumer.call.bind(consumer)
  const sold = planService.sold.bind(planService)
  const common = { clock, records, spend, call }
  const subscriptions = new OwnSubscriptions({ ...common, requestIds: ids, self: link.self, resolve, sold })
  const planCaller = new PlanCaller({ ...common, subscriptions })
  return {
    resolver,
    subscriptions,
    warmLinks: new WarmLinks({ link, clock, subscriptions, resolve }),
    call: (init) => (init.subscription === undefined ? call(init) : planCaller.call(init, init.subscription)),
    resolve,
    lookUp,
    start: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => spend.stop()
  }
}
