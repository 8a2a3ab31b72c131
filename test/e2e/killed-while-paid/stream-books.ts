import assert from 'node:assert/strict'
import { EMPTY_BYTES } from '../../../lib/base/bytes.ts'
import type { ApiId } from '../../../lib/base/api-name.ts'
import { EVENTS_PAID_AT_ONCE_MAX } from '../../../lib/base/limits/call.ts'
import type { LoggedCall } from '../../../lib/interface/store.ts'
import { hashOf } from '../../../lib/owner/stored-responses.ts'
import { EVENT_ATOMS, EVENTS_INCLUDED, PRICE_ATOMS, type World } from './world.ts'

/** What the owner's books say of one stream. */
interface BookedStream {
  opening?: LoggedCall
  /** Events that were paid for, beyond those that came with the opening. */
  events: number
}

/**
 * Each stream's payments, against what was read of it: nothing was read that is not paid for, and what was paid for and never read
 * is the last payment. Returns how many streams broke off after events had been paid for.
 */
export function checkStreams({ streams, upstream }: World, records: readonly LoggedCall[]): number {
  const booked = bookedStreams(streams.api as ApiId, [...streams.told.keys()], records)
  const read = streams.read()
  let cut = 0
  for (const [id, told] of streams.told) {
    const { opening, events } = booked.get(id) ?? { events: 0 }
    const isOpened = opening?.outcome === 'captured'
    if (isOpened) {
      assert.ok(upstream.reached.has(id), `stream ${id} was charged, and never opened`)
      assert.deepEqual([opening.charged, opening.rule], [PRICE_ATOMS, 'stream-open'])
    }
    if (told !== 'killed' && 'charged' in told)
      assert.ok(isOpened, `stream ${id} was answered, and is not in the books`)
    const free = isOpened ? EVENTS_INCLUDED : 0
    assert.ok((read.get(id) ?? 0) <= free + events, `of stream ${id} more was read than paid for`)
    if (events === 0) continue
    if (told === 'killed') {
      // What had reached it when it died nobody knows; its owner had captured it, and its books say so since.
      cut++
      continue
    }
    const lost = free + events - (read.get(id) ?? 0)
    assert.ok(lost <= EVENTS_PAID_AT_ONCE_MAX, `of stream ${id} ${lost} events were paid for and never read`)
    if (lost > 0) cut++
  }
  assert.ok(cut > 0, 'no stream was broken off')
  return cut
}

/** A payment says in its hash which stream it is for. */
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
    const stream = booked.get(id) ?? assert.fail('a payment for a stream that nobody reads')
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
  const hash = hashOf({ ...payment, requestId: EMPTY_BYTES, stream: Buffer.from(stream, 'hex') })
  return Buffer.from(hash).toString('hex')
}
