import assert from 'node:assert/strict'
import { EMPTY_BYTES } from '../../../lib/base/bytes.ts'
import type { ApiId } from '../../../lib/base/api-name.ts'
import { EVENTS_PAID_AT_ONCE_MAX } from '../../../lib/base/limits/call.ts'
import type { LoggedCall } from '../../../lib/interface/store.ts'
import { requestHash } from '../../../lib/base/request-hash.ts'
import { EVENT_ATOMS, EVENTS_INCLUDED, PRICE_ATOMS, type World } from './world.ts'

/** One stream in the owner's books. */
interface BookedStream {
  opening?: LoggedCall
  /** Paid events, without those included in the opening. */
  events: number
}

/**
 * Compares each stream's payments with the events that were read. No event was read unpaid, and at most the last payment is for
 * unread events. Returns the number of streams that broke off after a payment.
 */
export function checkStreams({ streams, upstream }: World, records: readonly LoggedCall[]): number {
  const booked = bookedStreams(streams.api as ApiId, [...streams.told.keys()], records)
  const read = streams.read()
  let cut = 0
  for (const [id, told] of streams.told) {
    const { opening, events } = booked.get(id) ?? { events: 0 }
    const isOpened = opening?.outcome === 'captured'
    if (isOpened) {
      assert.ok(upstream.reached.has(id), `stream ${id} was charged but never opened`)
      assert.deepEqual([opening.charged, opening.rule], [PRICE_ATOMS, 'stream-open'])
    }
    if (told !== 'killed' && 'charged' in told)
      assert.ok(isOpened, `stream ${id} got a response but is not in the books`)
    const free = isOpened ? EVENTS_INCLUDED : 0
    assert.ok((read.get(id) ?? 0) <= free + events, `stream ${id}: more events were read than paid for`)
    if (events === 0) continue
    if (told === 'killed') {
      // The consumer was killed, so its read events are unknown. The owner captured the payments, and its books have them.
      cut++
      continue
    }
    const lost = free + events - (read.get(id) ?? 0)
    assert.ok(lost <= EVENTS_PAID_AT_ONCE_MAX, `stream ${id}: ${lost} events were paid for and never read`)
    if (lost > 0) cut++
  }
  assert.ok(cut > 0, 'no stream was broken off')
  return cut
}

/** Sums the payments by stream. The request hash of a payment contains the stream's id. */
function bookedStreams(api: ApiId, ids: readonly string[], records: readonly LoggedCall[]): Map<string, BookedStream> {
  const payments = new Map<string, string>()
  for (const id of ids) {
    for (let events = 1; events <= EVENTS_PAID_AT_ONCE_MAX; events++) payments.set(paymentHash(api, id, events), id)
  }
  const booked = new Map<string, BookedStream>(ids.map((id) => [id, { events: 0 }]))
  for (const record of records.filter((record) => record.api === api)) {
    const opened = booked.get(Buffer.from(record.requestId).toString('hex'))
    if (opened !== undefined) {
      opened.opening = record
      continue
    }
    if (record.outcome !== 'captured') continue
    const id = payments.get(Buffer.from(record.requestHash).toString('hex')) ?? ''
    const stream = booked.get(id) ?? assert.fail('a payment for an unknown stream')
    assert.equal(record.rule, 'events')
    assert.equal(record.charged % EVENT_ATOMS, 0n)
    stream.events += Number(record.charged / EVENT_ATOMS)
  }
  return booked
}

function paymentHash(api: ApiId, stream: string, events: number): string {
  const payment = {
    api,
    method: 'POST',
    path: '',
    headers: [],
    body: EMPTY_BYTES,
    timeoutMs: 1,
    peer: '',
    revision: 1,
    events
  }
  const hash = requestHash({ ...payment, stream: Buffer.from(stream, 'hex') })
  return Buffer.from(hash).toString('hex')
}
