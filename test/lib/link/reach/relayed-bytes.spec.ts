import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { RELAY_V2_HOP_CODEC, RELAY_V2_STOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Libp2p, Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { pEvent } from 'p-event'
import { LINK_WINDOW_BYTES_MAX } from '../../../../lib/base/limits/link.ts'
import { RELAYED_QUEUE_BYTES_MAX } from '../../../../lib/base/limits/reach.ts'
import { createNode, type SoukNode } from '../../../../lib/index.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { quietPeer } from '../../../helpers/yamux-frames.ts'

/** `HopMessage` with `type = RESERVE`. */
const RESERVE = Uint8Array.of(8, 0)
/** `HopMessage` with `type = CONNECT`. The id of the peer follows. */
const CONNECT = [8, 1, 18]
/** `StopMessage` with `type = STATUS` and `OK`. */
const STOP_OK = Uint8Array.of(8, 1, 32, 100)
/** Not a divisor of any buffer. */
const CHUNK_BYTES = 60_001
const CHUNKS = 500

describe('the bytes of a circuit', () => {
  let relay: SoukNode
  let holder: Libp2p
  let caller: Libp2p
  beforeEach(async () => {
    relay = await createNode()
    await relay.start()
    holder = await quietPeer()
    caller = await quietPeer()
  })
  afterEach(async () => {
    await Promise.all([caller.stop(), holder.stop()])
    await relay.stop()
  })

  /** A circuit: its end at the caller, and its end at the holder, which is paused. */
  async function circuit(): Promise<readonly [Stream, Stream]> {
    const { promise, resolve } = Promise.withResolvers<Stream>()
    await holder.handle(RELAY_V2_STOP_CODEC, async (stream) => {
      const messages = lpStream(stream)
      await messages.read()
      // libp2p's default is exactly one window.
      stream.maxReadBufferLength = 2 * LINK_WINDOW_BYTES_MAX
      stream.pause()
      await messages.write(STOP_OK)
      resolve(messages.unwrap())
    })
    const reserving = lpStream(await holder.dialProtocol(relay.libp2p.getMultiaddrs(), RELAY_V2_HOP_CODEC))
    await reserving.write(RESERVE)
    await reserving.read()
    const { bytes } = holder.peerId.toMultihash()
    const connecting = lpStream(await caller.dialProtocol(relay.libp2p.getMultiaddrs(), RELAY_V2_HOP_CODEC))
    await connecting.write(Uint8Array.of(...CONNECT, bytes.length + 2, 10, bytes.length, ...bytes))
    await connecting.read()
    return [connecting.unwrap(), await promise]
  }

  it('wait at their sender while the receiver does not read, and all arrive later', async () => {
    const [from, to] = await circuit()
    const sentHash = createHash('sha256')
    let sent = 0
    const sending = (async () => {
      for (let at = 0; at < CHUNKS; at++) {
        const chunk = Buffer.alloc(CHUNK_BYTES, at)
        sentHash.update(chunk)
        sent += chunk.length
        if (!from.send(chunk)) await pEvent(from, 'drain', { rejectionEvents: ['close'] })
      }
      await from.close()
    })()
    let before = -1
    await eventually('the sender to wait', 10_000, async () => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      const isWaiting = sent === before
      before = sent
      return isWaiting || undefined
    })
    // The relay holds the window of its sender, and the receiver that of the relay.
    assert.ok(sent < 2 * LINK_WINDOW_BYTES_MAX + RELAYED_QUEUE_BYTES_MAX, `${sent} bytes`)
    const receivedHash = createHash('sha256')
    let received = 0
    to.addEventListener('message', ({ data }) => {
      receivedHash.update(data.subarray())
      received += data.byteLength
    })
    to.resume()
    await sending
    await eventually('all to arrive', 10_000, () => received === CHUNKS * CHUNK_BYTES || undefined)
    assert.equal(receivedHash.digest('hex'), sentHash.digest('hex'))
  })
})
