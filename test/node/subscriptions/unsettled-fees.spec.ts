import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { SoukError, withUnknownCharge } from '../../../lib/base/errors.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'
import type { CallTerms } from '../../../lib/interface/call.ts'
import type { CallInit, CallReply, Resolution } from '../../../lib/interface/index.ts'
import type { Store } from '../../../lib/interface/store.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import { DailySpend } from '../../../lib/plans/daily-spend.ts'
import { readRequest, writeReply } from '../../../lib/plans/messages.ts'
import { OwnRecords } from '../../../lib/plans/own-records.ts'
import { OwnSubscriptions } from '../../../lib/plans/own-subscriptions.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import type { Purchase } from '../../../node/spending/spending.ts'
import { Bindings } from '../../../node/subscriptions/bindings.ts'
import { BoundCalls } from '../../../node/subscriptions/bound-calls.ts'
import { SubscriptionService } from '../../../node/subscriptions/subscription-service.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { manifestOf } from '../../lib/resolve/fixtures.ts'

const PROVIDER = peerId('P')
const API = apiId('weather', PROVIDER)
const FEE = 9_000_000n
const ACCOUNT = 'acct_1'
const WISH = { api: API, plan: 'pro', maxPrice: '0.01' }
const DAY = 86_400_000

/** An owner that books each fee once, and whose responses may be lost, before the account of a hosted customer. */
async function bench() {
  const store = createMemoryStore()
  await store.open()
  const disk = { isAway: false }
  const documents: Store['documents'] = Object.create(store.documents, {
    put: {
      value: (...put: Parameters<Store['documents']['put']>) =>
        disk.isAway ? Promise.reject(new SoukError('store_unavailable')) : store.documents.put(...put)
    }
  })
  const clock = manualClock()
  const plan: Plan = { id: 'pro', name: 'pro', fee: FEE, period: 'month', trialDays: 0, overage: [], since: 1 }
  const signed = {
    id: API,
    manifest: manifestOf(PROVIDER, { name: 'weather', plans: [plan] }),
    envelope: new Uint8Array()
  }
  const resolve = async () => ({ signed, owners: [{ id: PROVIDER, addresses: [] }] }) as unknown as Resolution
  const owner = { paid: 0n, isLost: false, endsStore: false, results: new Map<string, CallReply>() }
  let version = 0
  const call = async (init: CallInit, { price }: CallTerms): Promise<CallReply> => {
    const request = readRequest(init.body as Uint8Array)
    const key = formatRequestId(init.requestId ?? freshIds.next())
    if (init.sentTo === undefined && price > 0n) await init.onPrice?.(price)
    if (!owner.results.has(key)) {
      const charged = request.action === 'subscribe' || request.action === 'renew' ? price : 0n
      owner.paid += charged
      const now = clock.now()
      const state = request.action === 'cancel' ? 'canceled' : 'active'
      const told = { id: request.id, api: API, plan, revision: 1, major: 1, peer: PROVIDER, peers: [], owner: PROVIDER }
      const body = writeReply({
        ...told,
        state,
        createdAt: now,
        periodStart: now,
        periodEnd: now + 31 * DAY,
        version: ++version,
        isShared: false
      })
      owner.results.set(key, { charged, body } as unknown as CallReply)
    }
    disk.isAway = owner.endsStore
    if (owner.isLost || init.signal?.aborted === true) throw withUnknownCharge(new SoukError('call_interrupted'))
    return owner.results.get(key) as CallReply
  }
  const records = new OwnRecords(documents, clock)
  const spend = new DailySpend(documents, clock)
  const sold = { list: async () => ({ subscriptions: [] }) } as unknown as OwnSubscriptions['sold']
  const subscriptions = new OwnSubscriptions({
    clock,
    requestIds: freshIds,
    self: PROVIDER,
    records,
    spend,
    resolve,
    call,
    sold
  })
  const account = { free: 10_000_000n, isAway: false, charges: new Map<string, bigint>() }
  const beginFee = (): Purchase => {
    let reserved = 0n
    return {
      reserve(price) {
        const more = price - reserved
        if (more > account.free) throw new SoukError('insufficient_funds')
        if (more > 0n) [account.free, reserved] = [account.free - more, reserved + more]
      },
      capture(charged, reference) {
        const cost = charged < reserved ? charged : reserved
        account.free += reserved - cost
        reserved = 0n
        if (cost > 0n && account.isAway) {
          account.free += cost
          throw new SoukError('store_unavailable')
        }
        if (cost > 0n) account.charges.set(reference, cost)
      },
      release() {
        account.free += reserved
        reserved = 0n
      },
      explain: (error) => error
    }
  }
  const bindings = new Bindings({ clock, documents, self: PROVIDER })
  const service = new SubscriptionService({
    souk: { resolve },
    subscriptions,
    bindings,
    spending: { beginFee },
    keys: { nameFor: () => new Uint8Array(16) },
    newId: () => formatRequestId(freshIds.next())
  })
  const bound = new BoundCalls({ bindings, subscriptions, service, clock })
  const paid = () => [...account.charges.values()].reduce((sum, each) => sum + each, 0n)
  return { owner, account, disk, service, bound, paid, clock }
}

describe('a fee of an account whose result is unknown', () => {
  it('is paid though the client leaves', async () => {
    const { owner, service, paid } = await bench()
    const gone = new AbortController()
    const subscribing = service.subscribe(ACCOUNT, WISH, { signal: gone.signal })
    gone.abort(new SoukError('call_interrupted'))
    await subscribing.catch(() => service.subscribe(ACCOUNT, WISH))
    assert.deepEqual([owner.paid, paid()], [FEE, FEE])
  })

  for (const [what, settle] of [
    ['the repeated request', ({ service }) => service.subscribe(ACCOUNT, WISH)],
    ['a cancellation', async ({ service }) => service.cancel(ACCOUNT, (await service.list(ACCOUNT))[0]?.id ?? '', true)]
  ] as ReadonlyArray<readonly [string, (on: Awaited<ReturnType<typeof bench>>) => Promise<unknown>]>) {
    it(`stays set aside, and is paid by ${what}`, async () => {
      const on = await bench()
      on.owner.isLost = true
      await assert.rejects(on.service.subscribe(ACCOUNT, WISH), { isChargeUnknown: true })
      assert.deepEqual([on.owner.paid, on.paid(), on.account.free], [FEE, 0n, 1_000_000n])
      on.owner.isLost = false
      await settle(on)
      assert.deepEqual([on.owner.paid, on.paid(), on.account.free], [FEE, FEE, 1_000_000n])
    })
  }

  it('is paid by the repeated request if the account could not be charged in the end', async () => {
    const { owner, account, service, paid } = await bench()
    account.isAway = true
    await assert.rejects(service.subscribe(ACCOUNT, WISH), { code: 'store_unavailable', isChargeUnknown: true })
    account.isAway = false
    await service.subscribe(ACCOUNT, WISH)
    assert.deepEqual([owner.paid, paid(), account.free], [FEE, FEE, 1_000_000n])
  })

  it('is paid once by the repeated request if the change could not be stored', async () => {
    const { owner, account, disk, service, paid } = await bench()
    owner.endsStore = true
    await assert.rejects(service.subscribe(ACCOUNT, WISH), { code: 'store_unavailable', isChargeUnknown: true })
    owner.endsStore = disk.isAway = false
    await service.subscribe(ACCOUNT, WISH)
    assert.deepEqual([owner.paid, paid(), account.free], [FEE, FEE, 1_000_000n])
  })

  it('lets calls be paid one by one until the subscription is confirmed', async () => {
    const { owner, service, bound } = await bench()
    const subscriptionOfCall = async () => {
      const call: { api: string; subscription?: string } = { api: 'weather' }
      await bound.bind(ACCOUNT, call)
      return call.subscription
    }
    owner.isLost = true
    const subscribing = service.subscribe(ACCOUNT, WISH)
    await assert.rejects(subscribing, { code: 'call_interrupted' })
    assert.equal(await subscriptionOfCall(), undefined)
    owner.isLost = false
    const { subscription } = await service.subscribe(ACCOUNT, WISH)
    assert.equal(await subscriptionOfCall(), subscription.id)
  })

  it('of a renewal is paid before the next call', async () => {
    const { owner, account, service, bound, paid, clock } = await bench()
    account.free = 2n * FEE
    const { subscription } = await service.subscribe(ACCOUNT, WISH)
    await clock.advance(32 * DAY)
    owner.isLost = true
    await assert.rejects(service.renew(ACCOUNT, subscription.id), { isChargeUnknown: true })
    assert.deepEqual([owner.paid, paid(), account.free], [2n * FEE, FEE, 0n])
    owner.isLost = false
    await bound.bind(ACCOUNT, { api: API })
    assert.deepEqual([owner.paid, paid(), account.free], [2n * FEE, 2n * FEE, 0n])
  })
})
