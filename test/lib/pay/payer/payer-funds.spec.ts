import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { DAY_MS } from '../../../../lib/base/limits/time.ts'
import { type CapLease, DailyCap } from '../../../../lib/pay/payer/daily-cap.ts'
import {
  type Promised,
  PayerFunds,
  type PayerFundsRefusal,
  type PayerFundsRules,
  type PayerFundsState
} from '../../../../lib/pay/payer/payer-funds.ts'
import { type Hold, PayeeFunds } from '../../../../lib/pay/payee/payee-funds.ts'

const RULES: PayerFundsRules = { windowCalls: 20, windowAtoms: 10_000n, exposureMax: 1_000_000n }
const AMPLE = 10n ** 12n

function payerFundsOf(
  rules: Partial<PayerFundsRules> = {},
  state: Partial<PayerFundsState> = {},
  cap = fullCap(AMPLE)
): PayerFunds {
  return new PayerFunds(
    { ceiling: 0n, spent: 0n, deposit: AMPLE, isWhole: true, ...state },
    { ...RULES, ...rules },
    cap
  )
}

function isPromised(answer: Promised | PayerFundsRefusal): answer is Promised {
  return 'ceiling' in answer
}

function promised(answer: Promised | PayerFundsRefusal): Promised {
  assert.ok(isPromised(answer), 'refused')
  return answer
}

describe('payer funds', () => {
  it('signs ahead for 20 calls or one cent, whichever is less', () => {
    assert.equal(promised(payerFundsOf().promise(100n, 0)).ceiling, 2_100n)
    assert.equal(promised(payerFundsOf().promise(1_000n, 0)).ceiling, 11_000n)
    assert.equal(promised(payerFundsOf().promise(50_000n, 0)).ceiling, 60_000n)
  })

  it('signs once for the calls of a window', () => {
    const payerFunds = payerFundsOf()
    const ceilings = Array.from({ length: 42 }, () => {
      const call = promised(payerFunds.promise(100n, 0))
      call.settle(100n)
      return call.ceiling
    })
    assert.deepEqual([...new Set(ceilings)], [2_100n, 4_200n])
  })

  it('signs each call by itself with a window of 0', () => {
    const payerFunds = payerFundsOf({ windowCalls: 0 })
    assert.deepEqual(
      [1, 2, 3].map(() => promised(payerFunds.promise(7n, 0)).ceiling),
      [7n, 14n, 21n]
    )
  })

  it('promises a fee above the exposure limit, and signs nothing ahead for it', () => {
    const payerFunds = payerFundsOf()
    const fee = promised(payerFunds.promise(20_000_000n, 0, true))
    assert.equal(fee.ceiling, 20_000_000n)
    const call = promised(payerFunds.promise(1_000_000n, 0))
    assert.deepEqual(payerFunds.promise(1n, 0), { why: 'exposure', mayPass: true })
    call.settle(1_000_000n)
    fee.settle(20_000_000n)
    assert.equal(payerFunds.spent, 21_000_000n)
  })

  it('does not count fees as calls: lost calls still block others', () => {
    const payerFunds = payerFundsOf()
    promised(payerFunds.promise(5_000_000n, 0, true)).lose()
    assert.deepEqual(payerFunds.promise(1n, 0), { why: 'exposure', mayPass: false })
    assert.equal(payerFunds.reconcile(0n), true)
    promised(payerFunds.promise(1n, 0)).settle(1n)
    // The owner reports later that it charged the lost call.
    assert.equal(payerFunds.reconcile(5_000_000n), true)
  })

  it('reuses money that was not charged', () => {
    const payerFunds = payerFundsOf({ windowCalls: 0 })
    promised(payerFunds.promise(10n, 0)).settle(4n)
    promised(payerFunds.promise(10n, 0)).release()
    assert.equal(promised(payerFunds.promise(6n, 0)).ceiling, 14n)
    assert.equal(payerFunds.spent, 4n)
  })

  it('counts no more than was promised, whatever the owner charges', () => {
    const payerFunds = payerFundsOf()
    promised(payerFunds.promise(10n, 0)).settle(1_000n)
    assert.equal(payerFunds.spent, 10n)
  })

  it('requests a deposit when the channel is too small, and limits the window to it', () => {
    const payerFunds = payerFundsOf({}, { deposit: 150n })
    assert.equal(promised(payerFunds.promise(100n, 0)).ceiling, 150n)
    assert.deepEqual(payerFunds.promise(100n, 0), { why: 'deposit', missing: 50n })
    payerFunds.hold(1_000n)
    assert.equal(promised(payerFunds.promise(100n, 0)).ceiling, 1_000n)
  })

  it('waits for running calls at the exposure limit, and never for a call that cannot pass', () => {
    const payerFunds = payerFundsOf({ exposureMax: 250n })
    const [first] = [promised(payerFunds.promise(100n, 0)), promised(payerFunds.promise(100n, 0))]
    assert.deepEqual(payerFunds.promise(100n, 0), { why: 'exposure', mayPass: true })
    assert.deepEqual(payerFunds.promise(251n, 0), { why: 'exposure', mayPass: false })
    first.settle(100n)
    promised(payerFunds.promise(100n, 0)).lose()
    promised(payerFunds.promise(50n, 0)).settle(0n)
  })

  it('counts the charge of a repeat once, although the owner’s books named it before', () => {
    const payerFunds = payerFundsOf()
    promised(payerFunds.promise(10n, 0)).lose()
    assert.equal(payerFunds.reconcile(10n), true)
    assert.equal(promised(payerFunds.promise(10n, 0)).settle(10n, 10n), 0n)
    assert.equal(promised(payerFunds.promise(10n, 0)).settle(10n, 20n), 10n)
    promised(payerFunds.promise(10n, 0)).contest(10n)
    assert.equal(payerFunds.uncontest(10n, 10n, 20n), 0n)
    assert.deepEqual([payerFunds.spent, payerFunds.disputed, payerFunds.promised], [20n, 0n, 0n])
  })

  it('reserves the cost of a lost call until the owner’s books are read', () => {
    const payerFunds = payerFundsOf({ exposureMax: 100n })
    promised(payerFunds.promise(80n, 0)).lose()
    assert.deepEqual(payerFunds.promise(30n, 0), { why: 'exposure', mayPass: false })
    promised(payerFunds.promise(20n, 0)).settle(20n)
    assert.equal(payerFunds.reconcile(100n), true)
    assert.deepEqual([payerFunds.spent, payerFunds.promised], [100n, 0n])
    promised(payerFunds.promise(100n, 0))
  })

  it('accepts a missed capture, but none of calls that it never sent', () => {
    const payerFunds = payerFundsOf({ windowCalls: 0 })
    promised(payerFunds.promise(10n, 0)).settle(10n)
    promised(payerFunds.promise(10n, 0)).doubt()
    const next = promised(payerFunds.promise(10n, 0))
    assert.equal(next.ceiling, 20n, 'the freed amount is used again')
    assert.equal(payerFunds.hear(20n, 0n, 10n), true)
    next.release()
    assert.equal(promised(payerFunds.promise(10n, 0)).ceiling, 30n)
    assert.equal(payerFunds.spent, 20n)
    assert.equal(payerFunds.hear(40n, 0n, 0n), false)
    assert.equal(payerFunds.reconcile(1_000n), true, 'no query while a call runs')
    assert.equal(payerFunds.spent, 20n)
  })

  it('still explains a lost call that arrives after the owner’s books were read without it', () => {
    const payerFunds = payerFundsOf({ windowCalls: 0, exposureMax: 250n }, { spent: 100n, ceiling: 100n })
    promised(payerFunds.promise(100n, 0)).lose()
    promised(payerFunds.promise(100n, 0)).lose()
    assert.equal(payerFunds.reconcile(100n), true)
    assert.equal(payerFunds.promised, 0n)
    assert.equal(payerFunds.hear(200n, 0n, 0n), true)
    assert.equal(payerFunds.reconcile(300n), true)
    assert.equal(payerFunds.spent, 300n)
    assert.equal(payerFunds.reconcile(301n), false, 'no call reserved that amount')
  })

  it("counts the owner's unknown reservations as promised, because they may be released", () => {
    const payerFunds = payerFundsOf({ windowCalls: 0 }, { isWhole: false })
    assert.equal(payerFunds.isWhole, false)
    payerFunds.recall(100n)
    assert.equal(payerFunds.hear(60n, 30n, 0n), true)
    assert.deepEqual([payerFunds.isWhole, payerFunds.spent, payerFunds.promised], [true, 60n, 30n])
    assert.equal(payerFunds.reconcile(60n), true)
    assert.deepEqual([payerFunds.spent, payerFunds.promised], [60n, 0n])
  })

  it('detects an owner that reports more than was ever signed or sent', () => {
    const payerFunds = payerFundsOf()
    promised(payerFunds.promise(100n, 0)).settle(100n)
    assert.equal(payerFunds.reconcile(101n), false)
    assert.equal(payerFunds.hear(101n, 0n, 0n), false)
    promised(payerFunds.promise(100n, 0)).release()
    assert.equal(payerFunds.hear(101n, 0n, 0n), false)
    promised(payerFunds.promise(100n, 0)).doubt()
    assert.equal(payerFunds.hear(payerFunds.ceiling + 1n, 0n, 0n), false)
    assert.equal(payerFunds.spent, 100n)
  })

  it('trusts its own signature after a restart', () => {
    const payerFunds = payerFundsOf({}, { ceiling: 500n, spent: 100n, isWhole: false })
    payerFunds.recall(300n)
    assert.equal(payerFunds.ceiling, 500n)
    payerFunds.recall(900n)
    assert.equal(payerFunds.ceiling, 900n)
    assert.equal(payerFunds.reconcile(901n), false)
    assert.equal(payerFunds.hear(850n, 0n, 0n), true)
    assert.equal(payerFunds.spent, 850n)
    assert.equal(payerFunds.reconcile(850n), true)
    assert.equal(payerFunds.hear(851n, 0n, 0n), false)
  })

  it('disputes nothing if a later call ended before a response arrived', () => {
    const payerFunds = payerFundsOf()
    const [overtaken, lost] = [promised(payerFunds.promise(100n, 0)), promised(payerFunds.promise(100n, 0))]
    lost.lose()
    overtaken.settle(100n)
    // Sent before the owner had the second call, which it captured.
    assert.equal(payerFunds.reconcile(100n), true)
    assert.deepEqual([payerFunds.spent, payerFunds.promised], [100n, 0n])
    promised(payerFunds.promise(100n, 0)).settle(100n)
    assert.equal(payerFunds.reconcile(300n), true)
    assert.equal(payerFunds.spent, 300n)
    assert.equal(payerFunds.reconcile(301n), false, 'once')
  })

  it('ends a call once', () => {
    const call = promised(payerFundsOf().promise(1n, 0))
    call.lose()
    for (const end of [() => call.settle(1n), () => call.release(), () => call.doubt(), () => call.lose()]) {
      assert.throws(end, { code: 'internal_error' })
    }
  })
})

/** A cap whose whole day is leased. */
function fullCap(cap: bigint, day = 0): DailyCap {
  const full = new DailyCap(cap, { day: day - 1, leased: 0n })
  for (let lease = full.next(day * DAY_MS); lease !== undefined; lease = full.next(day * DAY_MS)) full.grant(lease)
  return full
}

describe('daily cap', () => {
  it('limits the amount signed in a day over all channels, and resets at midnight UTC', () => {
    const cap = fullCap(1_000n)
    const [one, other] = [payerFundsOf({}, {}, cap), payerFundsOf({}, {}, cap)]
    assert.equal(promised(one.promise(40n, 0)).ceiling, 840n)
    assert.equal(promised(other.promise(100n, 0)).ceiling, 160n)
    assert.deepEqual(other.promise(100n, DAY_MS - 1), { why: 'day' })
    promised(one.promise(100n, DAY_MS - 1))
    assert.equal(cap.next(DAY_MS - 1), undefined)
    assert.deepEqual(other.promise(100n, DAY_MS), { why: 'day' }, 'nothing is leased yet')
    cap.grant(cap.next(DAY_MS)!)
    promised(other.promise(100n, DAY_MS))
  })

  it('is leased in slices, each once, up to the cap', () => {
    const cap = new DailyCap(1_005n)
    const leases: CapLease[] = []
    for (let lease = cap.next(0); lease !== undefined; lease = cap.next(0)) {
      leases.push(lease)
      cap.grant(lease)
      cap.grant(lease)
    }
    assert.ok(leases.length < 20, `${leases.length} leases`)
    assert.equal(leases.at(-1)?.leased, 1_005n)
    assert.equal(cap.left(0), 1_005n)
    assert.equal(new DailyCap(0n).next(0), undefined)
  })

  it('is hardly used up by a process that is killed again and again', () => {
    let last: CapLease | undefined
    for (let kills = 0; kills < 50; kills++) {
      const cap = new DailyCap(1_000_000n, last)
      last = cap.next(0)!
      cap.grant(last)
      assert.ok(cap.left(0) > 0n)
    }
    assert.ok(last!.leased <= 60_000n, `${last!.leased} of 1,000,000`)
  })

  it('counts a slice as signed after a restart, and does not reset when the clock is set back', () => {
    const before = new DailyCap(10_000n, { day: 4, leased: 0n })
    const lease = before.next(5 * DAY_MS)!
    before.grant(lease)
    assert.deepEqual(lease, { day: 5, leased: 10n })
    const after = new DailyCap(10_000n, lease)
    assert.equal(after.left(5 * DAY_MS), 0n)
    after.grant(after.next(4 * DAY_MS)!)
    assert.equal(after.left(5 * DAY_MS), 10n)
    assert.deepEqual(after.next(6 * DAY_MS), { day: 6, leased: 20n })
  })
})

/**
 * Payer and owner over a link that loses responses and calls and aborts calls, with a payer that loses writes: two books of the
 * same money. The owner is honest, so no permanent error and no dispute may occur.
 */
describe('the funds of a payer and its payee', () => {
  type Fate =
    | 'answered'
    | 'failed'
    | 'never arrived'
    | 'not run, link lost'
    | 'timed out, captured'
    | 'link lost, captured'
  interface Step {
    price: bigint
    part: bigint
    fate: Fate
    /** Calls that begin before this one ends. */
    overlap: number
    restart: boolean
  }
  const step: fc.Arbitrary<Step> = fc.record({
    price: fc.bigInt({ min: 0n, max: 300n }),
    part: fc.bigInt({ min: 0n, max: 100n }),
    fate: fc.constantFrom<Fate>(
      'answered',
      'failed',
      'never arrived',
      'not run, link lost',
      'timed out, captured',
      'link lost, captured'
    ),
    overlap: fc.nat({ max: 5 }),
    restart: fc.boolean()
  })
  const rules = fc.record({
    windowCalls: fc.nat({ max: 20 }),
    windowAtoms: fc.bigInt({ min: 0n, max: 2_000n }),
    exposureMax: fc.bigInt({ min: 300n, max: 3_000n })
  })

  it('agree after any faults, and never promise or admit more than is covered', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        rules,
        fc.bigInt({ min: 0n, max: 20_000n }),
        (steps, rules, cap) => {
          const world = new World(rules, cap)
          for (const each of steps) world.step(each)
          world.heal()
        }
      ),
      { numRuns: 1_000 }
    )
  })

  class World {
    readonly rules: PayerFundsRules
    readonly cap: DailyCap
    readonly capAtoms: bigint
    readonly payeeFunds = new PayeeFunds({ ceiling: 0n, captured: 0n })
    payerFunds: PayerFunds
    deposit = 1_000n
    signed = 0n
    stored: PayerFundsState
    readonly running: Array<{ end: () => void; due: number }> = []
    at = 0

    constructor(rules: PayerFundsRules, capAtoms: bigint) {
      this.rules = rules
      this.capAtoms = capAtoms
      this.cap = fullCap(capAtoms)
      this.stored = { ceiling: 0n, spent: 0n, deposit: this.deposit, isWhole: true }
      this.payerFunds = new PayerFunds(this.stored, rules, this.cap)
      this.payeeFunds.limitTo(this.deposit)
    }

    step({ price, part, fate, overlap, restart }: Step): void {
      this.at++
      for (const call of this.running.filter(({ due }) => due <= this.at)) this.#end(call)
      if (restart && this.running.length === 0) {
        // Writes are asynchronous, so the last ones may be lost.
        this.payerFunds = new PayerFunds(
          { ...this.stored, deposit: this.deposit, isWhole: false },
          this.rules,
          this.cap
        )
      }
      if (this.at % 3 === 0) this.#store()
      const call = this.#promise(price)
      if (call === undefined) return
      if (fate === 'never arrived') {
        call.release()
        return
      }
      const hold = this.#admit(call, price)
      if (hold === undefined) return
      const charged = (price * part) / 100n
      this.running.push({ due: this.at + overlap, end: () => settle(call, hold, charged, fate) })
      this.#check()
    }

    /** Ends all calls; one free call then tells the payer the owner's state. */
    heal(): void {
      for (const call of this.running.slice()) this.#end(call)
      this.payerFunds.recall(this.payeeFunds.ceiling)
      assert.equal(this.payeeFunds.reserved, 0n)
      assert.ok(this.payerFunds.reconcile(this.payeeFunds.captured), 'an honest owner was accused')
      assert.equal(this.payerFunds.spent, this.payeeFunds.captured)
      assert.equal(this.payerFunds.promised, 0n)
    }

    #store(): void {
      this.stored = {
        ceiling: this.payerFunds.ceiling,
        spent: this.payerFunds.spent,
        deposit: this.deposit,
        isWhole: false
      }
    }

    #end(call: { end: () => void }): void {
      this.running.splice(this.running.indexOf(call as (typeof this.running)[number]), 1)
      call.end()
      this.#check()
    }

    #promise(price: bigint): Promised | undefined {
      const answer = this.payerFunds.promise(price, 0)
      if (isPromised(answer)) return answer
      if (answer.why === 'deposit') {
        this.deposit += answer.missing + 500n
        this.payerFunds.hold(this.deposit)
        this.payeeFunds.limitTo(this.deposit)
        return this.#promise(price)
      }
      if (answer.why === 'exposure') assert.equal(answer.mayPass || this.payerFunds.promised > 0n, true)
      return undefined
    }

    /** Undefined if the owner rejects and reports its books; the payer may then promise again. */
    #admit(call: Promised, price: bigint): Hold | undefined {
      this.#sign(call.ceiling)
      const hold = this.payeeFunds.reserve(price)
      if (typeof hold === 'object') return hold
      this.payerFunds.recall(this.payeeFunds.ceiling)
      assert.ok(
        this.payerFunds.hear(this.payeeFunds.captured + this.payeeFunds.reserved, 0n, price),
        'an honest owner was accused'
      )
      call.release()
      const again = this.#promise(price)
      if (again === undefined) return undefined
      this.#sign(again.ceiling)
      const second = this.payeeFunds.reserve(price)
      assert.ok(typeof second === 'object', 'refused again after the owner reported its books')
      second.capture(price)
      again.settle(price)
      return undefined
    }

    #sign(ceiling: bigint): void {
      assert.ok(ceiling <= this.deposit)
      if (ceiling > this.signed) assert.ok(ceiling <= this.payerFunds.spent + this.rules.exposureMax)
      this.signed = ceiling > this.signed ? ceiling : this.signed
      this.payeeFunds.raise(ceiling)
    }

    #check(): void {
      const { payeeFunds } = this
      assert.ok(payeeFunds.captured + payeeFunds.reserved <= min(payeeFunds.ceiling, payeeFunds.limit))
      assert.ok(payeeFunds.ceiling <= this.signed && this.signed <= this.deposit)
      assert.ok(this.payerFunds.spent <= payeeFunds.ceiling)
      assert.ok(this.signed <= this.capAtoms)
    }
  }

  function settle(call: Promised, hold: Hold, charged: bigint, fate: Fate): void {
    hold.capture(fate === 'failed' || fate === 'not run, link lost' ? 0n : charged)
    if (fate === 'answered') call.settle(charged)
    else if (fate === 'failed' || fate === 'timed out, captured') call.doubt()
    else call.lose()
  }

  const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
})
