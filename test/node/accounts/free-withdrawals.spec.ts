import assert from 'node:assert/strict'
import { createMemoryStore, limits } from '../../../lib/index.ts'
import { FreeWithdrawals } from '../../../node/accounts/free-withdrawals.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

describe('the free withdrawals of a day', () => {
  let clock: ManualClock
  let free: FreeWithdrawals

  beforeEach(async () => {
    const { documents, open } = createMemoryStore()
    await open()
    clock = manualClock()
    free = new FreeWithdrawals({ documents, clock })
  })

  const of = (name: string) => ({ id: `acct_${name}`, funding: `0x${name}` })

  it('are not used up by withdrawals that were refused', async () => {
    for (let tries = 0; tries <= limits.FREE_WITHDRAWALS_MAX; tries++) {
      assert.equal(await free.take(of('refused')), true)
      await free.giveBack(of('refused'))
    }
    assert.equal(await free.take(of('other')), true)
  })

  it('are limited in number, also if one of the day before is given back', async () => {
    assert.equal(await free.take(of('late')), true)
    await clock.advance(limits.DAY_MS)
    await free.giveBack(of('late'))
    for (let i = 0; i < limits.FREE_WITHDRAWALS_MAX; i++) assert.equal(await free.take(of(String(i))), true)
    assert.equal(await free.take(of('one more')), false)
  })
})
