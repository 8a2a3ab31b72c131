import assert from 'node:assert/strict'
import { limits, SoukError } from '../../../lib/index.ts'
import { Slices } from '../../../node/spending/slices.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const OWNER = { id: 'owner' }

describe('slices', () => {
  it('are kept if the source was too long away to return them', async () => {
    const clock = manualClock()
    const outage = Promise.withResolvers<never>()
    const slices = new Slices(clock, { take: async () => 100n, giveBack: () => outage.promise })
    await slices.reserve(OWNER, 40n)
    assert.equal(slices.atHand(OWNER), 60n)
    await clock.advance(5 * limits.SLICE_IDLE_MS)
    assert.equal(slices.atHand(OWNER), 0n)
    outage.reject(new SoukError('store_unavailable'))
    await clock.advance(0)
    assert.equal(slices.atHand(OWNER), 60n)
  })
})
