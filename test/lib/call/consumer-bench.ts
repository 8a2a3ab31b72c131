import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { utf8 } from '../../../lib/base/bytes.ts'
import { type ErrorCode, SoukError } from '../../../lib/base/errors.ts'
import { Consumer } from '../../../lib/call/consumer.ts'
import { LocalCaller } from '../../../lib/call/local-caller.ts'
import { UsedKeys } from '../../../lib/call/used-keys.ts'
import type { Attempt, Call, CallResponse, CallTerms, IncomingCall } from '../../../lib/interface/call.ts'
import type { Resolution, ResolveOptions, Resolver } from '../../../lib/interface/directory.ts'
import type { PeerAddress } from '../../../lib/interface/link.ts'
import type { Manifest } from '../../../lib/interface/manifest.ts'
import type { CallInit } from '../../../lib/interface/souk.ts'
import type { Failure, Order, PaidAnswer } from '../../../lib/interface/payment-scheme.ts'
import type { Store } from '../../../lib/interface/store.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { manifestOf } from '../resolve/fixtures.ts'
import { responseOf } from './bench.ts'

export const SELF = peerId('S')
const PROVIDER = peerId('P')
export const ID = apiId('ticker', PROVIDER)
export const [A, B, C] = [peerId('A'), peerId('B'), peerId('C')]
const owner = (id: string): PeerAddress => ({ id, addresses: [] })

export const answered = (body = '{"ok":true}', ms = 5): Attempt => ({
  fate: 'answered',
  ms,
  answer: responseOf(body, { charged: 7n, receipt: utf8('signed'), ownerMs: 2, upstreamMs: 30 })
})
export const failed = (fate: 'failed' | 'not_accepted' | 'lost', code: ErrorCode): Attempt => ({
  fate,
  error: new SoukError(code)
})

export type Behaviour = Attempt | ((call: Call, signal: AbortSignal | undefined) => Promise<Attempt>)

/** A consumer with stubs that record everything. */
export class ConsumerBench {
  readonly clock: ManualClock = manualClock()
  readonly lookUps: ResolveOptions[] = []
  readonly reports: string[] = []
  readonly tried: Array<{ owner: string; call: Call }> = []
  readonly orders: Order[] = []
  readonly accepted: Array<{ owner: string; answer: PaidAnswer | undefined }> = []
  manifest: Manifest = manifestOf(PROVIDER, { price: 1_500n, revision: 4 })
  /** The owners found by each lookup. The last entry repeats. */
  found: ReadonlyArray<readonly string[] | Error> = [[A, B]]
  owners: Readonly<Record<string, Behaviour>> = {}
  movesMoney = true
  handle: (call: IncomingCall, signal: AbortSignal) => Promise<CallResponse> = async () => responseOf()
  authorise: (order: Order) => Promise<Uint8Array | undefined> = async () => undefined
  /** True if the payment scheme requests a retry at the same owner. */
  fail: (order: Order, failure: Failure) => boolean = () => false
  readonly store: Store = createMemoryStore()
  readonly consumer: Consumer

  constructor() {
    const paid = () => this.movesMoney
    void this.store.open()
    this.consumer = new Consumer({
      clock: this.clock,
      resolver: this.#resolver(),
      caller: new LocalCaller({
        clock: this.clock,
        self: SELF,
        handle: (call, signal) => this.handle(call, signal),
        remote: {
          call: async ({ id }, call, signal) => {
            this.tried.push({ owner: id, call })
            const behaviour = this.owners[id] ?? failed('not_accepted', 'owner_unreachable')
            return typeof behaviour === 'function' ? behaviour(call, signal) : behaviour
          }
        }
      }),
      paymentScheme: {
        scheme: 'test',
        get movesMoney() {
          return paid()
        },
        authorise: async (order) => {
          this.orders.push(order)
          return this.authorise(order)
        },
        accept: (order, answer) => void this.accepted.push({ owner: order.owner, answer }),
        fail: (order, failure) => {
          if (failure.fate !== 'lost') this.accepted.push({ owner: order.owner, answer: undefined })
          return this.fail(order, failure)
        },
        admit: () => assert.fail('a consumer admits nothing')
      },
      requestIds: freshIds,
      usedKeys: new UsedKeys({ clock: this.clock, claims: this.store.claims, self: SELF })
    })
  }

  call(changes: Partial<CallInit> = {}, terms?: CallTerms) {
    return this.consumer.call({ api: 'ticker', body: { symbol: 'BTC' }, ...changes }, terms)
  }

  triedOwners(): string[] {
    return this.tried.map((attempt) => attempt.owner)
  }

  #resolver(): Resolver {
    return {
      resolve: async (_ref, options): Promise<Resolution> => {
        const found = this.found[Math.min(this.lookUps.length, this.found.length - 1)] ?? []
        this.lookUps.push(options)
        if (found instanceof Error) throw found
        const signed = { id: ID, manifest: this.manifest, envelope: new Uint8Array(0) }
        return { signed, owners: found.map(owner) }
      },
      report: (id, peer, outcome) => {
        assert.equal(id, ID)
        this.reports.push(`${peer.at(-1)} ${outcome.ok ? `ok in ${outcome.ms}` : 'failed'}`)
      }
    }
  }
}
