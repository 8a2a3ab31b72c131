import assert from 'node:assert/strict'
import type { CallRecord, Store } from '../../../lib/interface/store.ts'
import type { Admission, Order, Outcome } from '../../../lib/interface/payment-scheme.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId, storedResponse } from '../../helpers/call-record.ts'

const api = `ticker@${peerId('P')}` as const

const order = (overrides: Partial<Order> = {}): Order => ({
  requestId: freshIds.next(),
  api,
  owner: peerId('D'),
  revision: 2,
  price: 1_500n,
  ...overrides
})

const admission = (overrides: Partial<Admission> = {}): Admission => ({
  requestId: freshIds.next(),
  api,
  peer: peerId('C'),
  revision: 2,
  price: 1_500n,
  ...overrides
})

const outcome = (overrides: Partial<Outcome> = {}): Outcome => ({
  status: 200,
  requestHash: new Uint8Array(32).fill(1),
  at: 1_750_000_000_000,
  ownerMs: 5,
  upstreamMs: 4,
  ...overrides
})

describe('the metered payment scheme', () => {
  let store: Store

  beforeEach(async () => {
    store = createMemoryStore()
    await store.open()
  })
  afterEach(() => store.close())

  it('reports its name', () => {
    const { scheme, movesMoney } = createMeteredScheme({ log: store.calls })
    assert.deepEqual({ scheme, movesMoney }, { scheme: 'metered', movesMoney: false })
  })

  it('sends no authorisation with a call within the limit, or without a limit', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    assert.equal(await paymentScheme.authorise(order()), undefined)
    assert.equal(await paymentScheme.authorise(order({ maxPrice: 1_500n })), undefined)
    assert.equal(await paymentScheme.authorise(order({ maxPrice: 1_501n })), undefined)
    assert.equal(await paymentScheme.authorise(order({ price: 0n, maxPrice: 0n })), undefined)
  })

  it('rejects a call above the limit, and reports both amounts', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    await assert.rejects(async () => paymentScheme.authorise(order({ maxPrice: 1_499n })), {
      code: 'price_exceeds_limit',
      message: 'A call costs 0.0015 USDC. Your limit is 0.001499 USDC.'
    })
    await assert.rejects(async () => paymentScheme.authorise(order({ price: 1n, maxPrice: 0n })), {
      code: 'price_exceeds_limit'
    })
  })

  it('records a captured call at its price and charges nothing', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    const admitted = admission()
    const reservation = await paymentScheme.admit(admitted)
    assert.deepEqual(await store.calls.recent({ limit: 10 }), [], 'admitting writes nothing')
    const settled = await reservation.capture(outcome({ response: storedResponse() }))
    assert.deepEqual(settled, { charged: 0n, receipt: new Uint8Array(0) })
    assert.deepEqual(await store.calls.recent({ limit: 10 }), [
      { ...admitted, ...outcome(), outcome: 'captured', charged: 0n, seq: 1 }
    ])
    assert.deepEqual(await store.calls.usage(), [{ api, captured: 1, voided: 0, metered: 1_500n, charged: 0n }])
  })

  it('records a released call as void, with its error', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    const admitted = admission()
    const settled = await (await paymentScheme.admit(admitted)).release(
      outcome({ status: 504, code: 'upstream_timeout' })
    )
    assert.equal(settled.charged, 0n)
    const record = await store.calls.find(admitted.peer, admitted.requestId)
    assert.deepEqual(record, {
      ...admitted,
      ...outcome({ status: 504, code: 'upstream_timeout' }),
      outcome: 'void',
      charged: 0n
    })
    assert.deepEqual(await store.calls.usage(), [{ api, captured: 0, voided: 1, metered: 0n, charged: 0n }])
  })

  it("keeps another scheme's authorisation out of the record", async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    const admitted = admission({ authorization: new Uint8Array([1, 2, 3]) })
    await (await paymentScheme.admit(admitted)).capture(outcome())
    const record = await store.calls.find(admitted.peer, admitted.requestId)
    assert.equal(Object.hasOwn(record ?? {}, 'authorization'), false)
  })

  it('resolves only when the record is durable', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const written: CallRecord[] = []
    const paymentScheme = createMeteredScheme({
      log: {
        append: (record) => {
          written.push(record)
          return promise
        }
      }
    })
    let isSettled = false
    const capture = (await paymentScheme.admit(admission())).capture(outcome()).then(() => (isSettled = true))
    await new Promise(setImmediate)
    assert.deepEqual([written.length, isSettled], [1, false])
    resolve()
    await capture
  })

  it('throws if a reservation is used twice, and records nothing more', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    for (const first of ['capture', 'release'] as const) {
      for (const second of ['capture', 'release'] as const) {
        const reservation = await paymentScheme.admit(admission())
        const settled = reservation[first](outcome())
        assert.throws(() => void reservation[second](outcome()), { code: 'internal_error' })
        await settled
      }
    }
    assert.equal((await store.calls.recent({ limit: 10 })).length, 4)
  })

  it('passes on why a record could not be written', async () => {
    const paymentScheme = createMeteredScheme({ log: store.calls })
    const admitted = admission()
    await (await paymentScheme.admit(admitted)).capture(outcome())
    await assert.rejects((await paymentScheme.admit(admitted)).capture(outcome()), { code: 'idempotency_in_flight' })
    await store.close()
    await assert.rejects((await paymentScheme.admit(admission())).capture(outcome()), { code: 'internal_error' })
  })
})
