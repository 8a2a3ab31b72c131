import assert from 'node:assert/strict'
import type { Connection, Stream } from '@libp2p/interface'
import { streamPair } from '@libp2p/utils'
import { LINK_PROBE_MS } from '../../../lib/base/limits/link.ts'
import { BULK_PROTOCOL } from '../../../lib/link/bulk-sink.ts'
import { probeConnection } from '../../../lib/link/probe-connection.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

/** Probes a connection whose peer treats a ping as `onPing` says. Returns whether it was pinged and aborted. */
async function probe(onPing: (peer: Stream) => void, streams: ReadonlyArray<Partial<Stream>> = []) {
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
  await clock.advance(LINK_PROBE_MS)
  await probing
  assert.equal(clock.pending, 0)
  return seen
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

  it('does not ping one that carries a body, because the response would come after it', async () => {
    assert.deepEqual(await probe(() => {}, [{ protocol: BULK_PROTOCOL }]), { isPinged: false, isAborted: false })
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
})
