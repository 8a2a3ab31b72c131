import assert from 'node:assert/strict'
import { BULK_OPEN_MS, BULK_STREAMS_WAITING_PER_PEER_MAX } from '../../../lib/base/limits/link.ts'
import { BULK_OF, BulkMailbox, bulkTag } from '../../../lib/call/bulk-mailbox.ts'
import { streamOf } from '../../helpers/bodies.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

describe('BulkMailbox', () => {
  const clock = manualClock()
  const tag = () => bulkTag(freshIds.next(), BULK_OF.response)
  const sourceOf = () => {
    const errors: Error[] = []
    return { errors, abort: (error: Error) => void errors.push(error), [Symbol.asyncIterator]: () => streamOf('x') }
  }
  const A = peerId('A')
  const CHANNEL = { peer: A }

  it('matches a stream with its frame in either order', async () => {
    const mailbox = new BulkMailbox(clock)
    const [first, second, early, late] = [tag(), tag(), sourceOf(), sourceOf()]
    mailbox.deliver(A, first, early)
    assert.equal(await mailbox.take(CHANNEL, first, undefined), early)
    const taking = mailbox.take(CHANNEL, second, undefined)
    mailbox.deliver(A, second, late)
    assert.equal(await taking, late)
    await clock.advance(BULK_OPEN_MS)
    assert.deepEqual([early.errors, late.errors], [[], []])
  })

  it('keeps peers separate', async () => {
    const mailbox = new BulkMailbox(clock)
    const [mine, theirs, source] = [tag(), peerId('B'), sourceOf()]
    mailbox.deliver(theirs, mine, source)
    const taking = assert.rejects(mailbox.take(CHANNEL, mine, undefined), { code: 'call_interrupted' })
    await clock.advance(BULK_OPEN_MS)
    await taking
    assert.equal(source.errors.length, 1)
  })

  it('stops waiting with the signal, and then drops the stream', async () => {
    const mailbox = new BulkMailbox(clock)
    const stop = new AbortController()
    const [mine, source] = [tag(), sourceOf()]
    const taking = assert.rejects(mailbox.take(CHANNEL, mine, stop.signal), /enough/)
    stop.abort(new Error('enough'))
    mailbox.deliver(A, mine, source)
    await taking
    await clock.advance(BULK_OPEN_MS)
    assert.equal(source.errors.length, 1)
  })

  it('stops waiting when the channel closes that announced the stream', async () => {
    const mailbox = new BulkMailbox(clock)
    const other = { peer: A }
    const [mine, theirs, source] = [tag(), tag(), sourceOf()]
    const ended = assert.rejects(mailbox.take(CHANNEL, mine, undefined), { code: 'call_interrupted' })
    const taking = mailbox.take(other, theirs, undefined)
    mailbox.closed(CHANNEL)
    await ended
    mailbox.deliver(A, theirs, source)
    assert.equal(await taking, source)
  })

  it('keeps the newest stream of a tag, and rejects malformed tags', async () => {
    const mailbox = new BulkMailbox(clock)
    const [mine, old, fresh, odd] = [tag(), sourceOf(), sourceOf(), sourceOf()]
    mailbox.deliver(A, mine, old)
    mailbox.deliver(A, mine, fresh)
    mailbox.deliver(A, mine.subarray(1), odd)
    assert.deepEqual([old.errors.length, fresh.errors.length, odd.errors.length], [1, 0, 1])
    assert.equal(await mailbox.take(CHANNEL, mine, undefined), fresh)
  })

  it('limits the waiting streams of a peer', async () => {
    const mailbox = new BulkMailbox(clock)
    const sources = Array.from({ length: BULK_STREAMS_WAITING_PER_PEER_MAX + 1 }, sourceOf)
    for (const source of sources) mailbox.deliver(A, tag(), source)
    assert.equal(sources.filter(({ errors }) => errors.length > 0).length, 1)
    const other = sourceOf()
    mailbox.deliver(peerId('B'), tag(), other)
    assert.equal(other.errors.length, 0)
    await clock.advance(BULK_OPEN_MS)
    assert.ok(sources.every(({ errors }) => errors.length === 1))
    assert.equal(clock.pending, 0)
  })
})
