import assert from 'node:assert/strict'
import { WITHDRAW_DELAY_S } from '../../../../lib/base/limits/pay.ts'
import { payRules } from '../../../../lib/pay/payer/pay-rules.ts'

describe('payment rules', () => {
  for (const name of ['windowCalls', 'withdrawDelay'] as const) {
    it(`take only a whole number as ${name}`, () => {
      for (const value of [WITHDRAW_DELAY_S + 0.5, Number.NaN, Infinity, -1, '1', null]) {
        assert.throws(() => payRules({ [name]: value }), { code: 'invalid_request' }, String(value))
      }
      assert.equal(payRules({ [name]: WITHDRAW_DELAY_S })[name], WITHDRAW_DELAY_S)
    })
  }
})
