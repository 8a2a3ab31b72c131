import assert from 'node:assert/strict'
import { asSoukError, SoukError } from '../../../lib/base/errors.ts'
import { FEE_PAUSE_MS, FEE_WAIT_MS } from '../../../lib/base/limits/plans.ts'
import { whenDepositCounts } from '../../../lib/plans/fee-wait.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const pending = () => new SoukError('settlement_pending', 'too new', { source: 'owner', notAccepted: true })

describe('a fee whose deposit does not count yet', () => {
  it('is asked for again until it counts', async () => {
    const clock = manualClock()
    let tries = 0
    const asked = whenDepositCounts(clock, {}, async () => {
      if (++tries < 4) throw pending()
      return 'paid'
    })
    await clock.advance(3 * FEE_PAUSE_MS)
    assert.deepEqual([await asked, tries], ['paid', 4])
  })

  it('ends in an error that says what to do, within the limit', async () => {
    for (const feeWaitMs of [undefined, 5_000]) {
      const clock = manualClock()
      const options = feeWaitMs === undefined ? {} : { feeWaitMs }
      const asked = whenDepositCounts(clock, options, () => Promise.reject(pending())).catch(asSoukError)
      await clock.advance(feeWaitMs ?? FEE_WAIT_MS)
      const { code, message, retryAfterMs, notAccepted, source } = await asked
      assert.deepEqual([code, notAccepted, source], ['settlement_pending', true, 'owner'])
      assert.match(message, /Nothing was charged\. Repeat the request/)
      assert.equal(retryAfterMs, FEE_PAUSE_MS)
      assert.equal(clock.pending, 0)
    }
  })

  it('is not asked for again after another error, an uncertain one, or when the caller has gone', async () => {
    const uncertain = new SoukError('settlement_pending', 'lost', { isChargeUnknown: true })
    for (const error of [new SoukError('insufficient_funds'), uncertain]) {
      const asked = whenDepositCounts(manualClock(), {}, () => Promise.reject(error))
      assert.equal(await asked.catch(asSoukError), error)
    }
    const gone = new AbortController()
    const asked = whenDepositCounts(manualClock(), { signal: gone.signal }, () => {
      gone.abort(new Error('gone'))
      return Promise.reject(pending())
    })
    await assert.rejects(asked, { code: 'settlement_pending' })
  })
})
