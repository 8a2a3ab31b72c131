import { apiId } from '../../../lib/base/api-name.ts'
import { utf8 } from '../../../lib/base/bytes.ts'
import type { Adapter, AdapterReply, AdapterRequest } from '../../../lib/interface/adapter.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import type { Manifest } from '../../../lib/interface/manifest.ts'
import type { CallLog, CallRecord, Store } from '../../../lib/interface/store.ts'
import type { PaymentScheme } from '../../../lib/interface/payment-scheme.ts'
import { Owner } from '../../../lib/owner/owner.ts'
import { DEFAULT_TERMS, type ServedApi, type ServingTerms } from '../../../lib/owner/served-api.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { manifestOf } from '../resolve/fixtures.ts'

export const PROVIDER = peerId('P')
export const CONSUMER = peerId('C')
export const ID = apiId('ticker', PROVIDER)
export const SELF = peerId('S')
export const NEVER = new AbortController().signal

export const replyOf = (
  body: AdapterReply['body'] | string = '{"ok":true}',
  changes: Partial<AdapterReply> = {}
): AdapterReply => ({
  status: 200,
  headers: [['content-type', 'application/json']],
  body: typeof body === 'string' ? utf8(body) : body,
  success: true,
  upstreamMs: 5,
  ...changes
})

/** An adapter that records its calls. */
export class StubAdapter implements Adapter {
  readonly protocol = 'REST'
  description: Adapter['description'] = { operations: [] }
  readonly reached: AdapterRequest[] = []
  closes = 0
  answer: (request: AdapterRequest, signal: AbortSignal) => Promise<AdapterReply> = async () => replyOf()

  call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply> {
    this.reached.push(request)
    return this.answer(request, signal)
  }

  async close(): Promise<void> {
    this.closes++
  }
}

export const servedApi = (
  adapter: Adapter,
  manifest: Partial<Manifest> = {},
  terms: ServingTerms = DEFAULT_TERMS
): ServedApi => ({
  signed: { id: ID, manifest: manifestOf(PROVIDER, manifest), envelope: new Uint8Array(0) },
  adapter,
  terms
})

export const incoming = (changes: Partial<IncomingCall> = {}): IncomingCall => ({
  peer: CONSUMER,
  requestId: freshIds.next(),
  api: ID,
  method: 'POST',
  path: '',
  headers: [],
  body: utf8('{"symbol":"BTC"}'),
  timeoutMs: 1_000,
  revision: 1,
  ...changes
})

/** An owner over a store whose appends can be held back or made to fail. */
export class OwnerBench {
  readonly clock: ManualClock = manualClock()
  readonly store: Store
  readonly owner: Owner
  readonly adapter = new StubAdapter()
  beforeAppend: (record: CallRecord) => Promise<void> = async () => {}

  private constructor(store: Store, epoch: bigint) {
    this.store = store
    const calls: CallLog = {
      ...store.calls,
      append: async (record) => {
        await this.beforeAppend(record)
        await store.calls.append(record)
      }
    }
    this.owner = new Owner({
      clock: this.clock,
      paymentScheme: createMeteredScheme({ log: calls }),
      calls,
      claims: store.claims,
      self: SELF,
      epoch
    })
  }

  /** Starts an owner that serves an API, on a new store or on that of an earlier process. */
  static async open(store: Store = createMemoryStore(), epoch = 100n): Promise<OwnerBench> {
    await store.open()
    const bench = new OwnerBench(store, epoch)
    await bench.owner.apis.set(servedApi(bench.adapter))
    return bench
  }

  /** Another owner with the same books and API, and a separate payment scheme. */
  async ownerWith(paymentScheme: PaymentScheme, manifest: Partial<Manifest> = {}): Promise<Owner> {
    const { clock, store, adapter } = this
    const owner = new Owner({ clock, paymentScheme, calls: store.calls, claims: store.claims, self: SELF, epoch: 100n })
    await owner.apis.set(servedApi(adapter, manifest))
    return owner
  }

  handle(changes: Partial<IncomingCall> = {}, signal = NEVER) {
    return this.owner.handle(incoming(changes), signal)
  }

  async records(): Promise<CallRecord[]> {
    const { calls } = this.store
    const found = (await calls.recent({ limit: 100 })).map(({ peer, requestId }) => calls.find(peer, requestId))
    return (await Promise.all(found)).filter((record) => record !== undefined)
  }
}
