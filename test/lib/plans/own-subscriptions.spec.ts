import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { RENEWAL_PAUSE_MS } from '../../../lib/base/limits/plans.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { within } from '../../../lib/base/within.ts'
import type { CallInit, CallReply } from '../../../lib/interface/souk.ts'
import { DailySpend } from '../../../lib/plans/daily-spend.ts'
import { unknownSubscription } from '../../../lib/plans/decide.ts'
import { readRequest, writeReply } from '../../../lib/plans/messages.ts'
import { OwnRecords } from '../../../lib/plans/own-records.ts'
import { OwnSubscriptions } from '../../../lib/plans/own-subscriptions.ts'
import { PlanCaller } from '../../../lib/plans/plan-caller.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { manifestOf, memoryDocuments } from '../resolve/fixtures.ts'
import { planOf } from './plan-service-bench.ts'

const OWNER = peerId('A')
const SELF = peerId('C')
const FREE = planOf('free', { included: 3 })
const PAID = planOf('paid', { fee: 5n })
const ID = '018f0000-0000-7000-8000-0000000000aa'

describe('a subscription of this node', () => {
  let clock: ManualClock
  beforeEach(() => {
    clock = manualClock()
  })

  const manifest = manifestOf(OWNER, { plans: [FREE, PAID] })
  const api = apiId(manifest.name, OWNER)

  const ownSubscriptions = (
    call: (init: CallInit) => Promise<CallReply>,
    records = new OwnRecords(memoryDocuments(), clock)
  ) => {
    return new OwnSubscriptions({
      clock,
      requestIds: freshIds,
      self: SELF,
      records,
      spend: new DailySpend(memoryDocuments(), clock),
      resolve: async () => ({
        signed: { id: api, manifest, envelope: new Uint8Array() },
        owners: [{ id: OWNER, addresses: [] }]
      }),
      call,
      sold: { list: async () => [] } as unknown as OwnSubscriptions['sold']
    })
  }

  const boughtAs = (id: string, plan = FREE): CallReply => {
    const [createdAt, periodStart, periodEnd] = [clock.now(), clock.now(), clock.now() + 1_000]
    const period = { createdAt, periodStart, periodEnd, state: 'active', version: 1 } as const
    const sold = { id, api, plan, revision: 1, major: 1, peer: SELF, peers: [], owner: OWNER }
    return { body: writeReply({ ...sold, ...period, isShared: false }), charged: 0n } as unknown as CallReply
  }

  it('whose purchase was lost with its owner is bought again under the same id, since no owner has sold it', async () => {
    let isOwnerBack = false
    const asked: string[] = []
    const answer = async (body: Uint8Array): Promise<CallReply> => {
      const request = readRequest(body)
      asked.push(request.action)
      if (request.action === 'show') throw unknownSubscription()
      if (!isOwnerBack) throw new SoukError('call_interrupted')
      return boughtAs(request.id)
    }
    const subscriptions = ownSubscriptions(({ body, sentTo }) =>
      sentTo === undefined ? answer(body as Uint8Array) : Promise.reject(new SoukError('call_interrupted'))
    )
    const subscribe = () => subscriptions.subscribe({ api, plan: FREE.id, maxPrice: '1', id: ID })
    await assert.rejects(subscribe(), { code: 'call_interrupted' })
    isOwnerBack = true
    assert.equal((await subscribe()).subscription.state, 'active')
    assert.equal((await subscribe()).subscription.state, 'active')
    assert.deepEqual(asked, ['subscribe', 'show', 'subscribe'])
  })

  for (const [why, gone] of [
    ['deleted the response', new SoukError('call_interrupted', undefined, { members: { charge: '0.000004' } })],
    ['deleted the call', new SoukError('request_expired')]
  ] as const) {
    it(`whose fee was paid is not paid again, and its account pays, if its owner has ${why}`, async () => {
      let isLost = true
      const settled: bigint[] = []
      const subscriptions = ownSubscriptions(async ({ body, sentTo }) => {
        const { id, action } = readRequest(body as Uint8Array)
        if (sentTo !== undefined) throw gone
        if (action !== 'show' && isLost) throw new SoukError('call_interrupted', undefined, { isChargeUnknown: true })
        return boughtAs(id, PAID)
      })
      const options = { onSettled: (charged: bigint) => void settled.push(charged) }
      const subscribe = () => subscriptions.subscribe({ api, plan: PAID.id, maxPrice: '1', id: ID }, options)
      await assert.rejects(subscribe(), { isChargeUnknown: true })
      isLost = false
      assert.equal((await subscribe()).subscription.state, 'active')
      assert.deepEqual(settled, [gone.members === undefined ? PAID.fee : 4n])
      await clock.advance(2_000)
      await assert.rejects(subscriptions.renew(ID), {
        code: 'subscription_inactive',
        message: /ended the paid period early/
      })
    })
  }

  it('is not paid again while a paid period lasts, even if the owner says that it has ended', async () => {
    let version = 0
    let charged = 0n
    const lies = (id: string): CallReply => {
      const times = { createdAt: 1, periodStart: 1, periodEnd: 2, state: 'active', version: ++version } as const
      // Not the agreed period, either.
      const plan = { ...PAID, period: 'day' } as const
      const sold = { id, api, plan, revision: 1, major: 1, peer: SELF, peers: [], owner: OWNER }
      charged += PAID.fee
      return { body: writeReply({ ...sold, ...times, isShared: false }), charged: PAID.fee } as unknown as CallReply
    }
    const subscriptions = ownSubscriptions(async ({ body }) => lies(readRequest(body as Uint8Array).id))
    const { id } = (await subscriptions.subscribe({ api, plan: PAID.id, maxPrice: '1' })).subscription
    for (let n = 0; n < 2; n++) {
      await assert.rejects(subscriptions.renew(id), {
        code: 'subscription_inactive',
        message: /in 28 days/
      })
    }
    assert.equal(charged, PAID.fee)
    await clock.advance(26 * DAY_MS)
    await assert.rejects(subscriptions.renew(id), { code: 'subscription_inactive' })
    await clock.advance(2 * DAY_MS)
    await subscriptions.renew(id)
    await assert.rejects(subscriptions.renew(id), { code: 'subscription_inactive' })
    assert.equal(charged, 2n * PAID.fee)
  })

  it('pays for calls while its owner says that the period is not over, and asks again only after a pause', async () => {
    const asked: string[] = []
    const [createdAt, periodEnd] = [clock.now(), clock.now() + 31 * DAY_MS]
    const times = { createdAt, periodStart: createdAt, periodEnd, state: 'active', version: 1 } as const
    const records = new OwnRecords(memoryDocuments(), clock)
    const subscriptions = ownSubscriptions(async ({ body, onPrice }) => {
      const { id, action } = readRequest(body as Uint8Array)
      asked.push(action)
      await onPrice?.(PAID.fee)
      const sold = { id, api, plan: PAID, revision: 1, major: 1, peer: SELF, peers: [], owner: OWNER }
      const charged = action === 'subscribe' ? PAID.fee : 0n
      return { body: writeReply({ ...sold, ...times, isShared: false }), charged } as unknown as CallReply
    }, records)
    const { id } = (await subscriptions.subscribe({ api, plan: PAID.id, maxPrice: '1' })).subscription
    let isOver = false
    const caller = new PlanCaller({
      clock,
      records,
      spend: new DailySpend(memoryDocuments(), clock),
      subscriptions,
      call: async () => {
        const members = { subscription: { id, state: 'paused' } }
        if (isOver) throw new SoukError('subscription_inactive', '', { members })
        return { charged: 0n } as CallReply
      }
    })
    await clock.advance(31 * DAY_MS)
    await subscriptions.renew(id)
    const init = { api, body: '', onFee: () => assert.fail('the caller does not pay fees') }
    assert.deepEqual(await caller.call(init, id), { charged: 0n })
    assert.deepEqual(asked, ['subscribe', 'renew'])
    await clock.advance(RENEWAL_PAUSE_MS)
    await subscriptions.renew(id)
    assert.deepEqual(asked, ['subscribe', 'renew', 'renew'])
    isOver = true
    await assert.rejects(caller.call(init, id), /does not pay fees/)
    assert.equal(asked.length, 4)
  })

  it('keeps the plan that it agreed to, whatever plan its owner reports', async () => {
    const asked: unknown[] = []
    let version = 0
    const lies = (body: Uint8Array): CallReply => {
      const request = readRequest(body)
      if ('plan' in request) asked.push([request.action, request.plan, request.fee])
      const times = { createdAt: 1, periodStart: 1, periodEnd: 2, state: 'active', version: ++version } as const
      const plan = request.action === 'pause' ? PAID : { ...FREE, fee: 5n, overage: [{ price: 9n }] }
      const sold = { id: request.id, api, plan, nextPlan: PAID.id, revision: 1, major: 1, peer: SELF, peers: [] }
      return { body: writeReply({ ...sold, owner: OWNER, ...times, isShared: false }), charged: 0n } as CallReply
    }
    const subscriptions = ownSubscriptions(async ({ body }) => lies(body as Uint8Array))
    const limits = { maxPrice: '1', maxFee: '1' }
    const { subscription } = await subscriptions.subscribe({ api, plan: FREE.id, ...limits })
    assert.deepEqual([subscription.plan, subscription.nextPlan], [FREE, undefined])
    const paused = (await subscriptions.pause(subscription.id)).subscription
    assert.deepEqual([paused.plan, paused.nextPlan], [FREE, undefined])
    await subscriptions.renew(subscription.id)
    assert.deepEqual(asked, [
      ['subscribe', FREE.id, FREE.fee],
      ['renew', FREE.id, FREE.fee]
    ])
  })

  it('that its owner has deleted can be cancelled', async () => {
    const subscriptions = ownSubscriptions(async ({ body }) => {
      const request = readRequest(body as Uint8Array)
      if (request.action === 'subscribe') return boughtAs(request.id)
      throw unknownSubscription()
    })
    const { subscription } = await subscriptions.subscribe({ api, plan: FREE.id, maxPrice: '1' })
    await assert.rejects(subscriptions.pause(subscription.id), { code: 'subscription_inactive' })
    await clock.advance(2_000)
    assert.equal((await subscriptions.cancel(subscription.id)).subscription.state, 'canceled')
    assert.equal((await subscriptions.get(subscription.id))?.state, 'canceled')
  })

  /** Documents whose writes fail while `isAway`. */
  const losable = () => {
    const store = { ...memoryDocuments(), isAway: false }
    const ifThere =
      <Args extends unknown[], R>(write: (...args: Args) => Promise<R>) =>
      async (...args: Args) => {
        if (store.isAway) throw new SoukError('store_unavailable')
        return write(...args)
      }
    return Object.assign(store, { put: ifThere(store.put), replace: ifThere(store.replace) })
  }

  it('returns the response of a paid call although the store cannot note its alert', async () => {
    const documents = losable()
    const records = new OwnRecords(documents, clock)
    const spend = new DailySpend(memoryDocuments(), clock)
    const subscriptions = ownSubscriptions(async ({ body }) => boughtAs(readRequest(body as Uint8Array).id), records)
    const { id } = (await subscriptions.subscribe({ api, plan: FREE.id, maxPrice: '1' })).subscription
    const quota = { included: 3, used: 3, resetsAt: clock.now() + 1_000 }
    const call = async () => ({ charged: 1n, quota }) as CallReply
    const caller = new PlanCaller({ clock, records, spend, subscriptions, call })
    documents.isAway = true
    assert.deepEqual(await caller.call({ api, body: '' }, id), { charged: 1n, quota })
    documents.isAway = false
    assert.equal((await caller.call({ api, body: '' }, id)).alert, 100)
  })

  it('takes nothing from its daily cap for a change that could not be stored', async () => {
    const documents = losable()
    const subscriptions = ownSubscriptions(
      async ({ body }) => boughtAs(readRequest(body as Uint8Array).id),
      new OwnRecords(documents, clock)
    )
    const wish = { api, plan: PAID.id, maxPrice: '1', dailyCap: '0.000009', id: '018f0000-0000-7000-8000-0000000000bb' }
    documents.isAway = true
    for (let n = 0; n < 3; n++) await assert.rejects(subscriptions.subscribe(wish), { code: 'store_unavailable' })
    documents.isAway = false
    await subscriptions.subscribe(wish)
  })

  it('is renewed for all its callers although the first one leaves', async () => {
    const { promise: told, resolve: tell } = Promise.withResolvers<void>()
    const subscriptions = ownSubscriptions(async ({ body, signal }) => {
      const { id, action } = readRequest(body as Uint8Array)
      if (action === 'renew') await within(told, signal)
      return boughtAs(id)
    })
    const { id } = (await subscriptions.subscribe({ api, plan: FREE.id, maxPrice: '1' })).subscription
    await clock.advance(1_000)
    const first = new AbortController()
    const renewals = [subscriptions.renew(id, { signal: first.signal }), subscriptions.renew(id)]
    first.abort()
    await assert.rejects(renewals[0]!, { code: 'call_interrupted', isChargeUnknown: true })
    tell()
    assert.equal((await renewals[1])?.subscription.id, id)
  })
})
