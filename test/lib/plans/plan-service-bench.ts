import { apiId } from '../../../lib/base/api-name.ts'
import { formatRequestId, requestIdBytes } from '../../../lib/base/request-id.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import type { SignedManifest } from '../../../lib/interface/manifest.ts'
import type { QuotaReservation } from '../../../lib/interface/plan-service.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import type { Documents } from '../../../lib/interface/store.ts'
import { readReply, type SubscriptionRequest, writeRequest } from '../../../lib/plans/messages.ts'
import { PlanService } from '../../../lib/plans/plan-service.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manifestOf } from '../resolve/fixtures.ts'

const [OWNER, CONSUMER] = [peerId('A'), peerId('C')]
const PROVIDER = peerId('P')
const ID = apiId('ticker', PROVIDER)
const START = Date.UTC(2026, 0, 31, 12)

export const planOf = (id: string, changes: Partial<Plan> = {}): Plan => ({
  id,
  name: id,
  fee: 0n,
  period: 'month',
  trialDays: 0,
  overage: [],
  since: 1,
  ...changes
})

/** Plays the payment scheme for a plan service: stores the documents of a call and reports the outcome. */
export class ServiceBench {
  now = START
  signed: SignedManifest
  service: PlanService
  readonly documents: Documents
  readonly #self: string
  readonly #shared: Documents | undefined

  private constructor(plans: readonly Plan[], documents: Documents, self: string, shared: Documents | undefined) {
    this.signed = { id: ID, manifest: manifestOf(PROVIDER, { plans }), envelope: new Uint8Array(0) }
    this.documents = documents
    this.#self = self
    this.#shared = shared
    this.service = this.#newService()
  }

  static async open(plans: readonly Plan[], { self = OWNER, shared = undefined as Documents | undefined } = {}) {
    const store = createMemoryStore()
    await store.open()
    return new ServiceBench(plans, store.documents, self, shared)
  }

  /** Simulates kill -9: only stored data remains. */
  async restart(): Promise<void> {
    this.service = this.#newService()
    await this.service.start()
  }

  set manifest(changes: Partial<SignedManifest['manifest']>) {
    this.signed = { ...this.signed, manifest: { ...this.signed.manifest, ...changes } }
  }

  incoming(changes: Partial<IncomingCall>): IncomingCall {
    return {
      peer: CONSUMER,
      requestId: freshIds.next(),
      api: ID,
      method: 'POST',
      path: '',
      headers: [],
      body: new Uint8Array(0),
      timeoutMs: 1_000,
      revision: 1,
      ...changes
    }
  }

  admit(subscription: string, changes: Partial<IncomingCall> = {}): Promise<QuotaReservation> | QuotaReservation {
    return this.service.admit(this.signed, this.incoming({ subscription: requestIdBytes(subscription), ...changes }))
  }

  ask(request: SubscriptionRequest, changes: Partial<IncomingCall> = {}): Promise<QuotaReservation> | QuotaReservation {
    return this.service.admit(this.signed, this.incoming({ service: 1, body: writeRequest(request), ...changes }))
  }

  async write(quotaReservation: QuotaReservation): Promise<void> {
    await this.documents.putAll([...quotaReservation.capture()])
    await quotaReservation.end(true)
  }

  /** One call that succeeds, and its price. */
  async call(subscription: string, changes: Partial<IncomingCall> = {}): Promise<bigint> {
    const quotaReservation = await this.admit(subscription, changes)
    await this.write(quotaReservation)
    return quotaReservation.price
  }

  async change(request: SubscriptionRequest, changes: Partial<IncomingCall> = {}) {
    const quotaReservation = await this.ask(request, changes)
    const body = quotaReservation.answer?.().body
    const due = quotaReservation.due?.() ?? quotaReservation.price
    await this.write(quotaReservation)
    if (!(body instanceof Uint8Array)) throw new Error('the plan service answers at once')
    return { due, subscription: readReply(body) }
  }

  planOf(id: string): Plan {
    const plan = this.signed.manifest.plans?.find((each) => each.id === id)
    if (plan === undefined) throw new Error(`no plan ${id}`)
    return plan
  }

  subscribe(plan: string, { trial = false, id = formatRequestId(freshIds.next()), peers = [] as string[] } = {}) {
    const { since, fee } = this.planOf(plan)
    return this.change({ action: 'subscribe', id, plan, since, fee, trial, peers })
  }

  #newService(): PlanService {
    const clock = {
      now: () => this.now,
      elapsed: () => this.now,
      after: () => ({ cancel() {} }),
      soon: () => {}
    }
    const shared = this.#shared
    return new PlanService({ clock, documents: this.documents, self: this.#self, ...(shared && { shared }) })
  }
}
