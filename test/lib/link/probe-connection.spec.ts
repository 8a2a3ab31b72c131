import assert from 'node:assert/strict'
import type { Connection, Stream } from '@libp2p/interface'
import { streamPair } from '@libp2p/utils'
import { HEARTBEAT_ANSWER_MS, LINK_PROBE_MS } from '../../../lib/base/limits/link.ts'
import { BULK_PROTOCOL } from '../../../lib/link/bulk-sink.ts'
import { probeConnection } from '../../../lib/link/probe-connection.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

/** Probes a connection whose peer treats a ping as `onPing` says. Returns whether it was pinged and aborted within `ms`. */
async function probe(onPing: (peer: Stream) => void, streams: ReadonlyArray<Partial<Stream>> = [], ms = LINK_PROBE_MS) {
  const clock = manualClock()
  const seen = { isPinged: false, isAborted: false }
  const connection = {
    status: 'open',
    streams,
    newStream: async () => {
      seen.isPinged = true
      const [ours, theirs] = await streamPair()
      onPing(theirs)
      return ours
    },
    abort: () => (seen.isAborted = true)
  } as unknown as Connection
  const probing = probeConnection(connection, clock)
  await clock.advance(ms)
  const { isAborted } = seen
  await clock.advance(HEARTBEAT_ANSWER_MS)
  await probing
  assert.equal(clock.pending, 0)
  return { ...seen, isAborted }
}

describe('probeConnection', () => {
  it('keeps a connection whose peer responds', async () => {
    const echo = (peer: Stream) => peer.addEventListener('message', ({ data }) => peer.send(data))
    assert.deepEqual(await probe(echo), { isPinged: true, isAborted: false })
  })

  it('aborts one whose peer is silent', async () => {
    assert.deepEqual(await probe(() => {}), { isPinged: true, isAborted: true })
  })

  it('keeps one whose peer knows no pings, because it responded', async () => {
    const refuse = (peer: Stream) => peer.abort(new Error('no such protocol'))
    assert.deepEqual(await probe(refuse), { isPinged: true, isAborted: false })
  })

  it('waits longer for the peer of one that carries a body, because the response comes after it', async () => {
    const carried = [{ protocol: BULK_PROTOCOL }]
    assert.deepEqual(await probe(() => {}, carried), { isPinged: true, isAborted: false })
    assert.deepEqual(await probe(() => {}, carried, HEARTBEAT_ANSWER_MS), { isPinged: true, isAborted: true })
  })

  it('pings by yamux, without a stream', async () => {
    const clock = manualClock()
    let isAborted = false
    const silent = ({ signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('no response'))))
    const connection = { status: 'open', streams: [], muxer: { ping: silent }, abort: () => (isAborted = true) }
    const probing = probeConnection(connection as unknown as Connection, clock)
    await clock.advance(LINK_PROBE_MS)
    await probing
    assert.equal(isAborted, true)
  })

  for (const [event, what] of Object.entries({ message: 'arrive', drain: 'are sent' })) {
    it(`waits while bytes ${what}, because on a slow link the response comes after them`, async () => {
      const clock = manualClock()
      const maConn = new EventTarget()
      let isAborted = false
      const newStream = async () => (await streamPair())[0]
      const connection = { status: 'open', streams: [], maConn, newStream, abort: () => (isAborted = true) }
      const probing = probeConnection(connection as unknown as Connection, clock)
      for (let round = 0; round < 3; round++) {
        await clock.advance(LINK_PROBE_MS - 1)
        maConn.dispatchEvent(new Event(event))
      }
      assert.equal(isAborted, false)
      await clock.advance(LINK_PROBE_MS)
      await probing
      assert.equal(isAborted, true)
      assert.equal(clock.pending, 0)
    })
  }
})
