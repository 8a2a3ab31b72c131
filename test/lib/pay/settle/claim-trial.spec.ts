import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/base/errors.ts'
import { CLAIM_ROWS_MAX, CLAIM_TRIALS_MAX, REFUSED_ROW_MS } from '../../../../lib/base/limits/chain.ts'
import type { Chain } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import { ClaimTrial } from '../../../../lib/pay/settle/claim-trial.ts'
import type { Claimable } from '../../../../lib/pay/settle/claimable.ts'
import type { SettlementCalls } from '../../../../lib/pay/chain/settlement-calls.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'

const id = (n: number): ChannelId => `0x${n.toString(16).padStart(64, '0')}`
const rows = (count: number): Claimable[] =>
  Array.from(
    { length: count },
    (_, i) => ({ channelId: id(i), row: i, due: 1n, isUrgent: false }) as unknown as Claimable
  )

/** A contract that rejects every claim with one of these rows. */
function trialBench(poisoned: ReadonlySet<number>, isDown = false) {
  let trials = 0
  const clock = manualClock()
  const calls = { claim: (rows: number[]) => rows } as unknown as SettlementCalls
  const chain = {
    async simulate(_: string, claimed: number[]) {
      trials++
      if (isDown) throw new SoukError('settlement_unavailable')
      return claimed.some((row) => poisoned.has(row)) ? { ok: false, reason: 'Poisoned' } : { ok: true, gas: 1n }
    }
  } as unknown as Chain
  return { clock, trial: new ClaimTrial({ chain, calls, clock, claimer: '0x00' }), trials: () => trials }
}

describe('the simulation of a claim', () => {
  it('needs one simulation if all rows are good', async () => {
    const { trial, trials } = trialBench(new Set())
    assert.equal((await trial.good(rows(CLAIM_ROWS_MAX), { left: CLAIM_TRIALS_MAX })).length, CLAIM_ROWS_MAX)
    assert.equal(trials(), 1)
    assert.deepEqual(trial.refused, [])
  })

  it('finds the few bad rows, and keeps the rest in order', async () => {
    const poisoned = new Set([0, 77, 199])
    const { trial, trials } = trialBench(poisoned)
    const all = rows(CLAIM_ROWS_MAX)
    const good = await trial.good(all, { left: CLAIM_TRIALS_MAX })
    assert.deepEqual(
      good,
      all.filter((_, i) => !poisoned.has(i))
    )
    assert.deepEqual(
      trial.refused,
      [...poisoned].map((i) => ({ channelId: id(i), reason: 'Poisoned' }))
    )
    assert.ok(trials() < 60)
  })

  it('is limited for any number of bad rows, and claims only rows that passed', async () => {
    const { trial, trials } = trialBench(new Set(Array.from({ length: CLAIM_ROWS_MAX / 2 }, (_, i) => 2 * i)))
    const good = await trial.good(rows(CLAIM_ROWS_MAX), { left: CLAIM_TRIALS_MAX })
    assert.ok(good.length > 0 && good.every(({ channelId }) => Number(BigInt(channelId)) % 2 === 1))
    assert.equal(trials(), CLAIM_TRIALS_MAX)
  })

  it('suspects a row until it passes or owes nothing, and pauses in between', async () => {
    const poisoned = new Set([0, 1])
    const { trial, clock } = trialBench(poisoned)
    await trial.good(rows(2), { left: 9 })
    assert.ok(trial.isSuspect(id(0)) && trial.isResting(id(0)))
    await clock.advance(REFUSED_ROW_MS)
    assert.ok(trial.isSuspect(id(0)) && !trial.isResting(id(0)))
    poisoned.delete(0)
    await trial.good(rows(1), { left: 9 })
    assert.ok(!trial.isSuspect(id(0)) && trial.isSuspect(id(1)))
    trial.forgetOthers(new Set())
    assert.deepEqual(trial.refused, [])
  })

  it('blames no row for an unavailable endpoint', async () => {
    const { trial } = trialBench(new Set(), true)
    await assert.rejects(trial.good(rows(2), { left: 9 }), { code: 'settlement_unavailable' })
    assert.deepEqual(trial.refused, [])
  })
})
