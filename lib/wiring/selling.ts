import type { ApiId } from '../base/api-name.ts'
import { logOf, reasonOf } from '../base/component-log.ts'
import type { CallHandler } from '../interface/call.ts'
import type { Directory } from '../interface/directory.ts'
import type { ManifestSigner } from '../interface/manifest.ts'
import type { Store } from '../interface/store.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import type { SoukOptions } from '../options.ts'
import { Announcer, type EventPublisher } from '../owner/announcer.ts'
import { loggedCalls } from '../owner/logged-calls.ts'
import { Owner } from '../owner/owner.ts'
import { Provider, type PublishedDescriptions } from '../owner/provider.ts'
import { TrackRecord } from '../owner/track-record.ts'
import { PlanService } from '../plans/plan-service.ts'
import type { Part } from './part.ts'
import type { SoukComponents } from './souk-components.ts'

export interface SellingInit {
  readonly components: Pick<SoukComponents, 'logger'>
  readonly options: SoukOptions
  readonly store: Store
  /** Peer id of this node. */
  readonly self: string
  /** Boot epoch of this process. */
  readonly epoch: bigint
  /** Time the books were restored from a backup, milliseconds since the epoch; 0 for never. */
  readonly restoredAt: number
  readonly paymentScheme: PaymentScheme
  readonly manifestSigner: ManifestSigner
  readonly directory: Directory
  readonly eventPublisher: EventPublisher
  /** Resolves when peers can reach this node, or after a short time. */
  readonly reachable: () => Promise<void>
  readonly descriptions: PublishedDescriptions
}

/** The provider side of a node: runs calls, announces listings, and sells subscriptions. */
export interface Selling extends Part {
  readonly owner: Owner
  readonly provider: Provider
  readonly announcer: Announcer
  readonly planService: PlanService
  /** Runs a call of a peer, or of this node. */
  readonly handler: CallHandler
}

export function createSelling(init: SellingInit): Selling {
  const {
    options,
    store,
    self,
    epoch,
    restoredAt,
    paymentScheme,
    manifestSigner,
    directory,
    eventPublisher,
    reachable,
    descriptions
  } = init
  const { logger } = init.components
  const { clock, sharedStore, onSold, worth, bootstrap } = options
  const { calls, claims, documents } = store
  const planService = new PlanService({
    clock,
    documents,
    self,
    log: logOf(logger, 'souk:plans'),
    ...(sharedStore && { shared: sharedStore.documents }),
    ...(onSold && { onSold })
  })
  const refusal = () => store.refusal?.()
  const isOwn = (id: ApiId) => owner.apis.get(id)?.signed.manifest.provider === manifestSigner.provider
  const track = new TrackRecord({ documents, clock, isOwn })
  worth?.learn(bootstrap, () => paymentScheme.boundPeers?.() ?? [])
  const owner = new Owner({
    clock,
    paymentScheme,
    calls,
    claims,
    self,
    epoch,
    restoredAt,
    plans: planService,
    refusal,
    watchers: worth === undefined ? [track] : [track, worth]
  })
  const log = logOf(logger, 'souk:announce')
  const onError = (error: unknown) => log('an announcement failed: %s', reasonOf(error))
  const announcer = new Announcer({ clock, directory, onError, eventPublisher, reachable, log })
  const report = options.selfReport ? track.report.bind(track) : undefined
  const provider = new Provider({
    clock,
    documents,
    manifestSigner,
    apis: owner.apis,
    announcer,
    descriptions,
    ...(report && { report })
  })
  return {
    owner,
    provider,
    announcer,
    planService,
    handler: loggedCalls(owner.handle.bind(owner), logOf(logger, 'souk:owner')),
    async start() {
      await track.start()
      await planService.start()
      await provider.restore()
    },
    async [Symbol.asyncDispose]() {
      for (const { adapter } of owner.apis.list()) await adapter.close?.()
      await planService.stop()
      await track.stop()
    }
  }
}
