import assert from 'node:assert/strict'
import { createFreeScheme } from '../../../lib/pay/free-scheme.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import type { Order } from '../../../lib/interface/payment-scheme.ts'

const WHY = 'This node has no wallet. Run: souk wallet create'

describe('the free payment scheme', () => {
  const requestId = new Uint8Array(16).fill(7)
  const order = (price: bigint, owner = 'other'): Order => ({ requestId, api: 'a@b', owner, revision: 1, price })

  async function paymentScheme() {
    const store = createMemoryStore()
    await store.open()
    const link = { self: 'me', exchange: () => assert.fail(), serve: () => {} }
    return { store, paymentScheme: createFreeScheme(WHY)({ calls: store.calls, link }) }
  }

  it('sends no authorisation with a free call, or with a call to its own node', async () => {
    const { paymentScheme: free } = await paymentScheme()
    assert.equal(await free.authorise(order(0n)), undefined)
    assert.equal(await free.authorise(order(5n, 'me')), undefined)
    assert.equal(free.movesMoney, false)
  })

  it('reports why a priced call cannot be paid, and applies the caller’s limit first', async () => {
    const { paymentScheme: free } = await paymentScheme()
    await assert.rejects(async () => free.authorise(order(5n)), { code: 'settlement_unavailable', message: WHY })
    await assert.rejects(async () => free.authorise({ ...order(5n), maxPrice: 4n }), { code: 'price_exceeds_limit' })
  })

  it('admits free calls and rejects priced ones as not accepted', async () => {
    const { paymentScheme: free, store } = await paymentScheme()
    const admission = { requestId, api: 'a@b', peer: 'other', revision: 1, price: 0n } as const
    const reservation = await free.admit(admission)
    const outcome = { status: 200, requestHash: new Uint8Array(32), at: 1, ownerMs: 1, upstreamMs: 1 }
    assert.equal((await reservation.capture(outcome)).charged, 0n)
    assert.throws(() => void reservation.release(outcome), { code: 'internal_error' })
    const found = await store.calls.find('other', requestId)
    assert.deepEqual([found?.outcome, found?.charged], ['captured', 0n])
    assert.throws(() => free.admit({ ...admission, price: 1n }), {
      code: 'settlement_unavailable',
      notAccepted: true
    })
    assert.doesNotThrow(() => free.admit({ ...admission, price: 1n, peer: 'me' }))
  })
})
