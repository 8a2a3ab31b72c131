import assert from 'node:assert/strict'
import { text, utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { EVENT_GRANT_MS, EVENT_PAYMENT_MS } from '../../../lib/base/limits/call.ts'
import type { EventFrames } from '../../../lib/interface/adapter.ts'
import { type CallResponse, EVENTS_RESPONSE, type IncomingCall } from '../../../lib/interface/call.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { CONSUMER, incoming, NEVER, OwnerBench, replyOf, servedApi } from './bench.ts'

const FRAMES: EventFrames = {
  isEvent: (chunk) => !text(chunk).startsWith(':'),
  ended: ({ code }) => utf8(`end ${code}`)
}

/** A stream that sends the bytes that the test chooses. */
function tap() {
  const waiting: Array<(result: IteratorResult<Uint8Array>) => void> = []
  const sent: Array<IteratorResult<Uint8Array>> = []
  const state = { isClosed: false }
  const push = (result: IteratorResult<Uint8Array>) => {
    const next = waiting.shift()
    if (next === undefined) sent.push(result)
    else next(result)
  }
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const result = sent.shift()
        return result === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(result)
      },
      return: async () => {
        state.isClosed = true
        push({ done: true, value: undefined })
        return { done: true, value: undefined }
      }
    })
  }
  return {
    body,
    state,
    emit: (...events: string[]) => {
      for (const event of events) push({ done: false, value: utf8(event) })
    },
    end: () => push({ done: true, value: undefined })
  }
}

describe('streams whose events have a price', () => {
  let bench: OwnerBench
  let api: ReturnType<typeof tap>
  beforeEach(async () => {
    bench = await OwnerBench.open()
    await serve(1)
  })
  afterEach(() => assert.equal(bench.owner.apis.inFlight, 0, 'calls are left over'))

  async function serve(included: number) {
    api = tap()
    await bench.owner.apis.set(servedApi(bench.adapter, { events: { price: 10n, included } }))
    bench.adapter.answer = async () => replyOf(api.body, { events: FRAMES })
  }
  const open = async (events = 100, signal = NEVER) => {
    const call = incoming({ events })
    const answer = await bench.owner.handle(call, signal)
    const stream = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    return { call, answer, stream }
  }
  const pay = (stream: IncomingCall, events: number, changes: Partial<IncomingCall> = {}) =>
    bench.handle({ stream: stream.requestId, events, body: utf8(''), timeoutMs: 120_000, ...changes })
  const read = async (stream: AsyncIterator<Uint8Array>) => {
    const { done, value } = await stream.next()
    return done === true ? undefined : text(value)
  }
  const bookedEvents = async () => {
    const records = await bench.records()
    return records.filter(({ rule }) => rule === 'events').map(({ price }) => price)
  }

  it('are requested from the adapter, and announce the price to the consumer', async () => {
    const { answer, stream } = await open()
    assert.equal(answer.eventPrice, 10n)
    assert.equal(bench.adapter.reached[0]?.perEvent, true)
    await stream.return?.()
    assert.ok(api.state.isClosed)
  })

  it('send included events, one event per booked payment, and free comments', async () => {
    const { call, stream } = await open()
    api.emit('a', ':', 'b')
    assert.equal(await read(stream), 'a')
    assert.equal(await read(stream), ':')
    let isWritten = false
    bench.beforeAppend = async () => {
      await settle()
      isWritten = true
    }
    const next = read(stream)
    await settle()
    const paid = pay(call, 5)
    assert.equal(await next, 'b')
    assert.ok(isWritten, 'it left before it was paid for')
    assert.equal((await paid).status, EVENTS_RESPONSE.paid)
    assert.deepEqual(await bookedEvents(), [10n])
    await stream.return?.()
  })

  it('charge all waiting events on one payment, up to its limit', async () => {
    const { call, stream } = await open()
    api.emit('a', 'b', 'c', 'd')
    await read(stream)
    const [paid, b] = await Promise.all([pay(call, 2), read(stream)])
    assert.deepEqual([b, await read(stream)], ['b', 'c'])
    assert.equal(paid.status, EVENTS_RESPONSE.paid)
    assert.deepEqual(await bookedEvents(), [20n])
    const [, d] = await Promise.all([pay(call, 2), read(stream)])
    assert.equal(d, 'd')
    assert.deepEqual(new Set(await bookedEvents()), new Set([10n, 20n]))
    await stream.return?.()
  })

  it('charge nothing for a payment without events, and respond after a while or at the end', async () => {
    const { call, stream } = await open()
    const early = pay(call, 5)
    await settle()
    await bench.clock.advance(EVENT_GRANT_MS)
    assert.equal((await early).status, EVENTS_RESPONSE.none)
    const late = pay(call, 5)
    await settle()
    api.end()
    assert.equal(await read(stream), undefined)
    assert.equal((await late).status, EVENTS_RESPONSE.over)
    assert.equal((await pay(call, 5)).status, EVENTS_RESPONSE.over)
    assert.deepEqual(await bookedEvents(), [])
  })

  it('end with a reason when the call pays for no more', async () => {
    const { call, stream } = await open(2)
    api.emit('a', 'b', 'c', 'd')
    await read(stream)
    await Promise.all([pay(call, 60), read(stream)])
    assert.equal(await read(stream), 'c')
    assert.equal(await read(stream), 'end price_exceeds_limit')
    assert.equal(await read(stream), undefined)
    assert.ok(api.state.isClosed)
    assert.deepEqual(await bookedEvents(), [20n])
  })

  it('end after the included events if no payment is offered, or the payment came with the call', async () => {
    const { stream } = await open(0)
    api.emit('a')
    assert.equal(await read(stream), 'a')
    assert.equal(await read(stream), 'end payment_required')
    assert.equal(await read(stream), undefined)
  })

  it('end when the consumer stops paying, or sends no payment', async () => {
    const one = await open()
    api.emit('a', 'b')
    await read(one.stream)
    const last = read(one.stream)
    await settle()
    assert.equal((await pay(one.call, 0)).status, EVENTS_RESPONSE.none)
    assert.equal(await last, 'end spend_cap_reached')
    assert.equal(await read(one.stream), undefined)

    await serve(0)
    const two = await open()
    api.emit('a')
    const silent = read(two.stream)
    await settle()
    await bench.clock.advance(EVENT_PAYMENT_MS)
    assert.equal(await silent, 'end payment_required')
    assert.equal(await read(two.stream), undefined)
    assert.deepEqual(await bookedEvents(), [])
  })

  it('accept payments of their reader only, one at a time', async () => {
    const { call, stream } = await open()
    const stranger = await bench.owner.handle(
      { ...incoming({ stream: call.requestId, events: 5 }), peer: peerId('X') },
      NEVER
    )
    assert.equal(stranger.status, EVENTS_RESPONSE.over)
    const first = pay(call, 1)
    await settle()
    await assert.rejects(pay(call, 1), { code: 'overloaded', notAccepted: true })
    await assert.rejects(pay(call, 1, { payment: 'x402' }), { code: 'invalid_request' })
    await stream.return?.()
    assert.equal((await first).status, EVENTS_RESPONSE.over)
  })

  it('wait for another payment after a refusal, and break if the books cannot be written', async () => {
    const metered = createMeteredScheme({ log: bench.store.calls })
    let refusals = 1
    const paymentScheme: typeof metered = {
      ...metered,
      admit(admission) {
        if (admission.price === 10n && refusals-- > 0) {
          throw new SoukError('payment_required', 'More.', { notAccepted: true })
        }
        return metered.admit(admission)
      }
    }
    const owner = await bench.ownerWith(paymentScheme, { events: { price: 10n, included: 0 } })
    const call = incoming({ events: 9 })
    const { body } = await owner.handle(call, NEVER)
    const stream = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    const paying = () => owner.handle(incoming({ stream: call.requestId, events: 1, timeoutMs: 120_000 }), NEVER)
    api.emit('a', 'b')
    const first = read(stream)
    await assert.rejects(paying(), { code: 'payment_required' })
    await paying()
    assert.equal(await first, 'a')
    refusals = 0
    const broken = Object.assign(new Error('disk'), {})
    bench.store.calls.append = async () => {
      throw broken
    }
    const second = read(stream)
    const [refused, lost] = await Promise.allSettled([paying(), second])
    assert.deepEqual([refused.status, lost.status], ['rejected', 'rejected'])
    assert.ok(api.state.isClosed)
  })

  it('end when their call is cancelled', async () => {
    const giveUp = new AbortController()
    const { call, stream } = await open(100, giveUp.signal)
    const waiting = pay(call, 5)
    await settle()
    giveUp.abort(new SoukError('call_interrupted'))
    assert.equal((await waiting).status, EVENTS_RESPONSE.over)
    assert.equal(await read(stream), undefined)
  })

  it('answer a repeated payment from the books; after a restart they run none that is missing', async () => {
    const { call, stream } = await open()
    api.emit('a', 'b')
    await read(stream)
    const payment = incoming({ stream: call.requestId, events: 3, body: utf8(''), timeoutMs: 120_000 })
    const [paid] = await Promise.all([bench.owner.handle(payment, NEVER), read(stream)])
    assert.equal(paid.status, EVENTS_RESPONSE.paid)
    await stream.return?.()
    const later = await OwnerBench.open(bench.store, 200n)
    const again = await later.owner.handle({ ...payment, resentFromEpoch: 100n }, NEVER)
    assert.equal(again.status, EVENTS_RESPONSE.paid)
    assert.deepEqual(await bookedEvents(), [10n])
    const unknown: IncomingCall = { ...payment, requestId: freshIds.next(), resentFromEpoch: 100n }
    await assert.rejects(later.owner.handle(unknown, NEVER), { code: 'call_interrupted' })
    await assert.rejects(later.owner.handle({ ...payment, events: 4, resentFromEpoch: 100n }, NEVER), {
      code: 'idempotency_mismatch'
    })
  })

  it('are unchanged if events have no price', async () => {
    await bench.owner.apis.set(servedApi(bench.adapter))
    const { answer, stream } = await open()
    api.emit('a', 'b', 'c')
    api.end()
    const all: Array<string | undefined> = []
    for (let next = await read(stream); next !== undefined; next = await read(stream)) all.push(next)
    assert.deepEqual([answer.eventPrice, all], [undefined, ['a', 'b', 'c']] satisfies [
      CallResponse['eventPrice'],
      string[]
    ])
    assert.equal(CONSUMER, (await bench.records())[0]?.peer)
  })
})
