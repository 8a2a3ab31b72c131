import assert from 'node:assert/strict'
import type { Atoms } from '../../../lib/base/money.ts'
import { type Call, EVENTS_RESPONSE } from '../../../lib/interface/call.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { manifestOf } from '../resolve/fixtures.ts'
import { responseOf } from './bench.ts'
import { A, ConsumerBench } from './consumer-bench.ts'

const EVENT_PRICE = 10_000n
/** A consumer that keeps to its limit pays far less often. */
const PAYMENTS_MAX = 50

describe('payments for the events of a stream', () => {
  /** Opens a stream for at most five events at an owner that never ends it. Returns what the owner charged for events. */
  async function pay(charge: (payment: Call) => Atoms): Promise<readonly Atoms[]> {
    const bench = new ConsumerBench()
    bench.manifest = manifestOf(peerId('P'), { price: 10_000n, events: { price: EVENT_PRICE, included: 0 } })
    const payments: Atoms[] = []
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => ({ done: true, value: undefined })
      })
    }
    bench.owners = {
      [A]: async (call) => {
        if (call.stream === undefined)
          return {
            fate: 'answered',
            ms: 1,
            answer: { ...responseOf(), body, charged: 10_000n, eventPrice: EVENT_PRICE }
          }
        const isOver = call.events === 0 || payments.length === PAYMENTS_MAX
        if (!isOver) payments.push(charge(call))
        const paid = { status: EVENTS_RESPONSE.paid, charged: payments.at(-1) ?? 0n }
        return {
          fate: 'answered',
          ms: 1,
          answer: responseOf('', isOver ? { status: EVENTS_RESPONSE.over, charged: 0n } : paid)
        }
      }
    }
    bench.found = [[A]]
    const reply = await bench.call({ maxPrice: '0.06' })
    for (let i = 0; i < PAYMENTS_MAX; i++) await settle()
    await (reply.body as AsyncIterableIterator<Uint8Array>).return?.()
    return payments
  }
  const sum = (amounts: readonly Atoms[]) => amounts.reduce((total, each) => total + each, 0n)

  it('end at the price limit of the call', async () => {
    assert.equal(sum(await pay(({ maxPrice = 0n }) => maxPrice)), 50_000n)
  })

  it('end there although the owner charges a little less than the price of each event', async () => {
    const payments = await pay(() => EVENT_PRICE - 1n)
    assert.equal(payments.length, 5, `${sum(payments)} atoms were charged`)
  })

  it('end when the owner says that it charged, and charged nothing', async () => {
    assert.equal((await pay(() => 0n)).length, 1)
  })
})
