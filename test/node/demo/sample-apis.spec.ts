import assert from 'node:assert/strict'
import { limits, parseUsdc } from '../../../lib/index.ts'
import { SAMPLE_APIS } from '../../../node/demo/sample-apis.ts'

describe('the APIs of the demo', () => {
  const prices = SAMPLE_APIS.map(({ price }) => parseUsdc(price))

  it('include one that x402 clients can pay by `exact`', () => {
    assert.ok(prices.some((price) => price >= limits.EXACT_ATOMS_MIN))
  })

  it('can all be called with the public demo key', () => {
    assert.ok(prices.every((price) => price <= limits.DEMO_PRICE_ATOMS_MAX))
  })
})
