import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { asSoukError } from '../../../lib/base/errors.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { SUBSCRIPTION_MOVES, type SubscriptionState } from '../../../lib/interface/subscription.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import type { SubscriptionReply } from '../../../lib/plans/messages.ts'
import { stateAt, takesCalls } from '../../../lib/plans/sold-subscription.ts'
import { ServiceBench, planOf } from './plan-service-bench.ts'

const PLANS = [
  planOf('free', { included: 3, period: 'week' }),
  planOf('basic', { fee: 100n, included: 4, overage: [{ upTo: 2, price: 7n }, { price: 3n }] }),
  planOf('pro', { fee: 1_000n, included: 6, trialDays: 5 })
]

/** The expected state, computed independently. */
interface Model {
  told: SubscriptionReply | undefined
  /** Successful calls of the period. */
  used: number
  isTrial: boolean
  /** The total of all prices due, and the expected total. */
  readonly seen: SubscriptionState[]
}

interface Real {
  readonly bench: ServiceBench
  readonly id: string
}

type Command = fc.AsyncCommand<Model, Real>

const stateOf = (m: Readonly<Model>, { bench }: Real): SubscriptionState =>
  m.told === undefined ? 'incomplete' : stateAt(m.told, bench.now)

function note(m: Model, r: Real): void {
  const state = stateOf(m, r)
  const last = m.seen.at(-1)
  if (last === state) return
  const moves: readonly SubscriptionState[] = last === undefined ? ['incomplete'] : SUBSCRIPTION_MOVES[last]
  assert.ok(moves.includes(state), `${last} became ${state}`)
  m.seen.push(state)
}

/** Number of calls of a period, and the price of the n-th; undefined beyond the last. */
function priceOf({ plan }: { plan: Plan }, isTrial: boolean, used: number): bigint | undefined {
  const { included = Infinity, overage } = plan
  if (used < included) return 0n
  return isTrial ? undefined : overage.find(({ upTo = Infinity }) => used - included < upTo)?.price
}

async function codeOf(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt()
    return 'done'
  } catch (error) {
    return asSoukError(error).code
  }
}

class Subscribe implements Command {
  readonly #plan: string
  readonly #trial: boolean
  constructor(plan: string, trial: boolean) {
    this.#plan = plan
    this.#trial = trial
  }
  check = (m: Readonly<Model>) => m.told === undefined
  async run(m: Model, r: Real): Promise<void> {
    note(m, r)
    const plan = r.bench.planOf(this.#plan)
    m.isTrial = this.#trial && plan.trialDays > 0
    const { due, subscription } = await r.bench.subscribe(this.#plan, { trial: this.#trial, id: r.id })
    assert.equal(due, m.isTrial ? 0n : plan.fee)
    m.told = subscription
    note(m, r)
    // A repeated request gives the same result and costs nothing.
    assert.equal((await r.bench.subscribe(this.#plan, { trial: this.#trial, id: r.id })).due, 0n)
  }
  toString = () => `subscribe(${this.#plan}${this.#trial ? ', trial' : ''})`
}

class Call implements Command {
  readonly #end: 'succeeds' | 'fails' | 'is lost'
  constructor(end: 'succeeds' | 'fails' | 'is lost') {
    this.#end = end
  }
  check = (m: Readonly<Model>) => m.told !== undefined
  async run(m: Model, r: Real): Promise<void> {
    note(m, r)
    assert.ok(m.told !== undefined)
    const price = priceOf(m.told, m.isTrial, m.used)
    if (!takesCalls(stateOf(m, r))) {
      assert.equal(await codeOf(() => r.bench.call(r.id)), 'subscription_inactive')
    } else if (price === undefined) {
      assert.equal(await codeOf(() => r.bench.call(r.id)), 'quota_exceeded')
    } else if (this.#end === 'succeeds') {
      assert.equal(await r.bench.call(r.id), price)
      m.used++
    } else {
      const quotaReservation = await r.bench.admit(r.id)
      assert.equal(quotaReservation.price, price)
      if (this.#end === 'fails') await quotaReservation.end(false)
      else await r.bench.restart()
    }
  }
  toString = () => `call(${this.#end})`
}

class Renew implements Command {
  check = (m: Readonly<Model>) => m.told !== undefined
  async run(m: Model, r: Real): Promise<void> {
    note(m, r)
    assert.ok(m.told !== undefined)
    const { told } = m
    const plan = r.bench.planOf(told.nextPlan ?? told.plan.id)
    const { periodEnd } = told
    const terms = { plan: plan.id, since: plan.since, fee: plan.fee }
    const renew = () => r.bench.change({ action: 'renew', id: r.id, periodEnd, ...terms })
    const isDue = r.bench.now >= told.periodEnd && (told.state === 'active' || told.state === 'trialing')
    if (!isDue) {
      const code = await codeOf(async () => assert.equal((await renew()).due, 0n))
      assert.equal(code, takesCalls(stateOf(m, r)) ? 'done' : 'subscription_inactive')
      return
    }
    const { due, subscription } = await renew()
    assert.equal(due, plan.fee)
    assert.equal(subscription.plan.id, plan.id)
    assert.ok(subscription.periodEnd > r.bench.now && subscription.periodStart <= r.bench.now)
    assert.ok(subscription.periodStart >= told.periodEnd)
    Object.assign(m, { told: subscription, used: 0, isTrial: false })
    note(m, r)
  }
  toString = () => 'renew'
}

class Change implements Command {
  readonly #plan: string
  constructor(plan: string) {
    this.#plan = plan
  }
  check = (m: Readonly<Model>) => m.told !== undefined
  async run(m: Model, r: Real): Promise<void> {
    note(m, r)
    assert.ok(m.told !== undefined)
    const { told } = m
    const plan = r.bench.planOf(this.#plan)
    const state = stateOf(m, r)
    const change = () => r.bench.change({ action: 'change', id: r.id, plan: plan.id, since: plan.since, fee: plan.fee })
    if (state === 'canceled' || state === 'canceling') {
      assert.equal(await codeOf(change), 'subscription_inactive')
      return
    }
    const { due, subscription } = await change()
    const paid = m.isTrial ? 0n : told.plan.fee
    const isAtOnce = plan.id !== told.plan.id && takesCalls(state) && plan.fee > paid
    if (isAtOnce) {
      const { included = 1 } = told.plan
      const left = BigInt(Math.max(0, included - m.used))
      const most = (paid * left) / BigInt(included)
      assert.ok(due <= plan.fee && due >= plan.fee - most, `${due} for ${plan.fee}`)
      assert.equal(subscription.periodStart, r.bench.now)
      Object.assign(m, { used: 0, isTrial: false })
    } else {
      assert.equal(due, 0n)
      assert.equal(subscription.periodEnd, told.periodEnd)
      assert.equal(subscription.nextPlan, plan.id === told.plan.id ? undefined : plan.id)
    }
    m.told = subscription
    note(m, r)
  }
  toString = () => `change(${this.#plan})`
}

/** The expected state after a request in a given state; undefined if the request is rejected. */
function afterwards(
  action: string,
  decided: SubscriptionState,
  state: SubscriptionState,
  isTrial: boolean
): SubscriptionState | undefined {
  const running = isTrial ? 'trialing' : 'active'
  if (action === 'show') return decided
  if (action === 'cancel now') return state === 'canceled' ? decided : 'canceled'
  if (action === 'cancel') {
    if (state === 'canceled') return decided
    return state === 'paused' ? 'canceled' : 'canceling'
  }
  if (state === 'canceled' || (action === 'pause' && state === 'canceling')) return undefined
  if (action === 'pause') return 'paused'
  return decided === 'paused' || decided === 'canceling' ? running : decided
}

class Simply implements Command {
  readonly #action: 'cancel' | 'cancel now' | 'pause' | 'resume' | 'show'
  constructor(action: 'cancel' | 'cancel now' | 'pause' | 'resume' | 'show') {
    this.#action = action
  }
  check = (m: Readonly<Model>) => m.told !== undefined
  async run(m: Model, r: Real): Promise<void> {
    note(m, r)
    const { id } = r
    assert.ok(m.told !== undefined)
    const expected = afterwards(this.#action, m.told.state, stateOf(m, r), m.isTrial)
    const request =
      this.#action === 'cancel' || this.#action === 'cancel now'
        ? ({ action: 'cancel', id, now: this.#action === 'cancel now' } as const)
        : ({ action: this.#action, id } as const)
    const code = await codeOf(async () => {
      const { due, subscription } = await r.bench.change(request)
      assert.equal(due, 0n)
      m.told = subscription
    })
    assert.equal(code, expected === undefined ? 'subscription_inactive' : 'done')
    note(m, r)
    if (expected !== undefined) assert.equal(m.told?.state, expected)
  }
  toString = () => this.#action
}

class Wait implements Command {
  readonly #ms: number
  constructor(ms: number) {
    this.#ms = ms
  }
  check = () => true
  async run(m: Model, r: Real): Promise<void> {
    if (m.told !== undefined) note(m, r)
    r.bench.now += this.#ms
    if (m.told !== undefined) note(m, r)
  }
  toString = () => `wait(${this.#ms / DAY_MS} d)`
}

class Restart implements Command {
  check = () => true
  run = (_: Model, r: Real) => r.bench.restart()
  toString = () => 'restart'
}

const plan = fc.constantFrom('free', 'basic', 'pro')
const COMMANDS = [
  fc.tuple(plan, fc.boolean()).map(([id, trial]) => new Subscribe(id, trial)),
  fc
    .constantFrom('succeeds' as const, 'succeeds' as const, 'fails' as const, 'is lost' as const)
    .map((end) => new Call(end)),
  fc.constant(new Call('succeeds')),
  fc.constant(new Call('succeeds')),
  fc.constant(new Renew()),
  plan.map((id) => new Change(id)),
  fc
    .constantFrom('cancel' as const, 'cancel now' as const, 'pause' as const, 'resume' as const, 'show' as const)
    .map((a) => new Simply(a)),
  fc.nat(40 * DAY_MS).map((ms) => new Wait(ms)),
  fc.constant(new Restart())
]

describe('a subscription at its owner, under random operations', () => {
  it('follows the table of states, counts and charges as its plan says, and survives restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 60, size: 'max' }), async (commands) => {
        const bench = await ServiceBench.open(PLANS)
        const id = '018f0000-0000-7000-8000-000000000001'
        const setup = () => ({
          model: { told: undefined, used: 0, isTrial: false, seen: [] } as Model,
          real: { bench, id }
        })
        await fc.asyncModelRun(setup, commands)
      }),
      { numRuns: 300 }
    )
  })
})
