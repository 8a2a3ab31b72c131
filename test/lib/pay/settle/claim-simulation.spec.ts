import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/base/errors.ts'
import { CLAIM_ROWS_MAX, CLAIM_TRIALS_MAX, REFUSED_ROW_MS } from '../../../../lib/base/limits/chain.ts'
import type { Chain } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import { ClaimSimulation } from '../../../../lib/pay/settle/claim-simulation.ts'
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
function simulationBench(poisoned: ReadonlySet<number>, isDown = false) {
  let simulations = 0
  const clock = manualClock()
  const calls = { claim: (rows: number[]) => rows } as unknown as SettlementCalls
  const chain = {
    async simulate(_: string, claimed: number[]) {
      simulations++
      if (isDown) throw new SoukError('settlement_unavailable')
      return claimed.some((row) => poisoned.has(row)) ? { ok: false, reason: 'Poisoned' } : { ok: true, gas: 1n }
    }
  } as unknown as Chain
  return {
    clock,
    simulation: new ClaimSimulation({ chain, calls, clock, claimer: '0x00' }),
    simulations: () => simulations
  }
}

describe('the simulation of a claim', () => {
  it('needs one simulation if all rows are good', async () => {
    const { simulation, simulations } = simulationBench(new Set())
    assert.equal((await simulation.good(rows(CLAIM_ROWS_MAX), { left: CLAIM_TRIALS_MAX })).length, CLAIM_ROWS_MAX)
    assert.equal(simulations(), 1)
    assert.deepEqual(simulation.refused, [])
  })

  it('finds the few bad rows, and keeps the rest in order', async () => {
    const poisoned = new Set([0, 77, 199])
    const { simulation, simulations } = simulationBench(poisoned)
    const all = rows(CLAIM_ROWS_MAX)
    const good = await simulation.good(all, { left: CLAIM_TRIALS_MAX })
    assert.deepEqual(
      good,
      all.filter((_, i) => !poisoned.has(i))
    )
    assert.deepEqual(
      simulation.refused,
      [...poisoned].map((i) => ({ channelId: id(i), reason: 'Poisoned' }))
    )
    assert.ok(simulations() < 60)
  })

  it('is limited for any number of bad rows, and claims only rows that passed', async () => {
    const { simulation, simulations } = simulationBench(
      new Set(Array.from({ length: CLAIM_ROWS_MAX / 2 }, (_, i) => 2 * i))
    )
    const good = await simulation.good(rows(CLAIM_ROWS_MAX), { left: CLAIM_TRIALS_MAX })
    assert.ok(good.length > 0 && good.every(({ channelId }) => Number(BigInt(channelId)) % 2 === 1))
    assert.equal(simulations(), CLAIM_TRIALS_MAX)
  })

  it('suspects a row until it passes or owes nothing, and pauses in between', async () => {
    const poisoned = new Set([0, 1])
    const { simulation, clock } = simulationBench(poisoned)
    await simulation.good(rows(2), { left: 9 })
    assert.ok(simulation.isSuspect(id(0)) && simulation.isResting(id(0)))
    await clock.advance(REFUSED_ROW_MS)
    assert.ok(simulation.isSuspect(id(0)) && !simulation.isResting(id(0)))
    poisoned.delete(0)
    await simulation.good(rows(1), { left: 9 })
    assert.ok(!simulation.isSuspect(id(0)) && simulation.isSuspect(id(1)))
    simulation.forgetOthers(new Set())
    assert.deepEqual(simulation.refused, [])
  })

  it('blames no row for an unavailable endpoint', async () => {
    const { simulation } = simulationBench(new Set(), true)
    await assert.rejects(simulation.good(rows(2), { left: 9 }), { code: 'settlement_unavailable' })
    assert.deepEqual(simulation.refused, [])
  })
})
