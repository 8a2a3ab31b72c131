import assert from 'node:assert/strict'
import { CONTRACT_PAYMENTS_MAX } from '../../../../lib/base/limits/pay.ts'
import { DAY_MS } from '../../../../lib/base/limits/time.ts'
import { ContractPayments } from '../../../../lib/pay/chain/contract-payments.ts'

describe('payments from accounts with code', () => {
  it('are bounded until they are given back or the day ends', () => {
    let now = 10 * DAY_MS
    const payments = new ContractPayments({ now: () => now })
    for (let i = 0; i < CONTRACT_PAYMENTS_MAX; i++) payments.take(`payer/${i}`)
    assert.throws(() => payments.take('payer/new'), { code: 'settlement_unavailable', retryAfterMs: DAY_MS })
    payments.giveBack('payer/0')
    payments.take('payer/new')
    now -= DAY_MS
    assert.throws(() => payments.take('payer/next'), { code: 'settlement_unavailable' })
    now += 2 * DAY_MS
    payments.take('payer/next')
  })

  it('are taken once a day: a failed one is no free retry', () => {
    const payments = new ContractPayments({ now: () => 0 })
    payments.take('payer/1')
    assert.throws(() => payments.take('payer/1'), { code: 'settlement_unavailable' })
  })
})
