import assert from 'node:assert/strict'
import { EMPTY_BYTES } from '../../../lib/base/bytes.ts'
import { EVENTS_NONE_PAUSE_MS } from '../../../lib/base/limits/call.ts'
import type { Atoms } from '../../../lib/base/money.ts'
import { type Call, EVENTS_RESPONSE } from '../../../lib/interface/call.ts'
import type { Payload } from '../../../lib/interface/payload.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { manifestOf } from '../resolve/fixtures.ts'
import { responseOf } from './bench.ts'
import { A, ConsumerBench } from './consumer-bench.ts'

const EVENT_PRICE = 10_000n
/** A consumer that keeps to its limit pays far less often. */
const PAYMENTS_MAX = 50

interface Result {
  readonly status: number
  readonly charged: Atoms
}

function unending(onReturn: () => void = () => {}): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      async return() {
        onReturn()
        return { done: true, value: undefined }
      }
    })
  }
}

describe('payments for the events of a stream', () => {
  /** Opens a stream for at most five events at an owner that never ends it. `payments` has the result of each payment. */
  async function open(resultOf: (payment: Call) => Result, bodyOfPayment: Payload = EMPTY_BYTES) {
    const bench = new ConsumerBench()
    bench.manifest = manifestOf(peerId('P'), { price: 10_000n, events: { price: EVENT_PRICE, included: 0 } })
    const payments: Result[] = []
    const body = unending()
    bench.owners = {
      [A]: async (call) => {
        if (call.stream === undefined)
          return {
            fate: 'answered',
            ms: 1,
            answer: { ...responseOf(), body, charged: 10_000n, eventPrice: EVENT_PRICE }
          }
        const isOver = call.events === 0 || payments.length === PAYMENTS_MAX
        const result = isOver ? { status: EVENTS_RESPONSE.over, charged: 0n } : resultOf(call)
        if (!isOver) payments.push(result)
        return { fate: 'answered', ms: 1, answer: { ...responseOf('', result), body: bodyOfPayment } }
      }
    }
    bench.found = [[A]]
    const reply = await bench.call({ maxPrice: '0.06' })
    for (let i = 0; i < PAYMENTS_MAX; i++) await settle()
    return { payments, bench, close: () => (reply.body as AsyncIterableIterator<Uint8Array>).return?.() }
  }
  /** The charges of an owner that accepts each payment. */
  async function charges(charge: (payment: Call) => Atoms): Promise<readonly Atoms[]> {
    const { payments, close } = await open((payment) => ({ status: EVENTS_RESPONSE.paid, charged: charge(payment) }))
    await close()
    return payments.map(({ charged }) => charged)
  }
  const sum = (amounts: readonly Atoms[]) => amounts.reduce((total, each) => total + each, 0n)

  it('end at the price limit of the call', async () => {
    assert.equal(sum(await charges(({ maxPrice = 0n }) => maxPrice)), 50_000n)
  })

  it('end there although the owner charges a little less than the price of each event', async () => {
    const charged = await charges(() => EVENT_PRICE - 1n)
    assert.equal(charged.length, 5, `${sum(charged)} atoms were charged`)
  })

  it('end when the owner says that it charged, and charged nothing', async () => {
    assert.equal((await charges(() => 0n)).length, 1)
  })

  it('leave no body open that the owner sends', async () => {
    let cancelled = 0
    const sent = unending(() => cancelled++)
    const { payments, close } = await open(() => ({ status: EVENTS_RESPONSE.paid, charged: EVENT_PRICE }), sent)
    assert.equal(payments.length, 5)
    assert.equal(cancelled, payments.length)
    await close()
  })

  it('pause where the owner says at once that it has no events', async () => {
    const { payments, bench, close } = await open(() => ({ status: EVENTS_RESPONSE.none, charged: 0n }))
    assert.equal(payments.length, 1)
    await bench.clock.advance(EVENTS_NONE_PAUSE_MS)
    assert.equal(payments.length, 2)
    await close()
  })
})
