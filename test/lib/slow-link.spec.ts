import assert from 'node:assert/strict'
import type { Stream } from '@libp2p/interface'
import { pEvent } from 'p-event'
import { INLINE_BODY_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { createNode, handler, type SoukNode } from '../../lib/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { forwarder } from '../helpers/forwarder.ts'
import { portOf } from '../helpers/port-of.ts'

const BYTES_PER_SECOND = 4 * 1024 * 1024
/** An owner runs 256 for one consumer. */
const CALLS = 240
/** More than one time fills the buffers of a connection. */
const ENDLESS = 16
const ENDLESS_PROTOCOL = '/test/endless/1.0.0'
const CHUNK = Buffer.alloc(64 * 1024)

describe('a slow link, whose calls have streams of their own', () => {
  let owner: SoukNode
  let consumer: SoukNode
  let link: Awaited<ReturnType<typeof forwarder>>

  before(async () => {
    owner = await createNode({ network: 'slow-link', listen: ['/ip4/127.0.0.1/tcp/0'] })
    await owner.start()
    const listening = owner.libp2p.getMultiaddrs().map(String)[0]!
    link = await forwarder(portOf(owner.libp2p), BYTES_PER_SECOND)
    consumer = await createNode({
      network: 'slow-link',
      listen: [],
      bootstrap: [listening.replace(/tcp\/\d+/, `tcp/${link.port}`)]
    })
    await consumer.start()
  })
  after(async () => {
    await consumer.stop()
    await owner.stop()
    link.stop()
  })

  it('carries many of them at once, in both directions', async () => {
    const body = 'x'.repeat(INLINE_BODY_BYTES_MAX)
    await owner.souk.serve(
      { name: 'echo', price: '0' },
      handler(({ body }) => body)
    )
    const call = async () => (await consumer.souk.call({ api: 'echo', body, timeoutMs: 120_000 })).json()
    await call()
    const replies = await Promise.all(Array.from({ length: CALLS }, call))
    assert.ok(replies.every((reply) => reply === body))
  })

  it('carries new ones while endless ones take all they can', async () => {
    const body = 'x'.repeat(8 * INLINE_BODY_BYTES_MAX)
    await owner.souk.serve(
      { name: 'large', price: '0' },
      handler(() => body)
    )
    const call = async () => (await consumer.souk.call({ api: 'large', body: '', timeoutMs: 120_000 })).json()
    await call()
    let received = 0
    await consumer.libp2p.handle(ENDLESS_PROTOCOL, (stream) =>
      stream.addEventListener('message', ({ data }) => (received += data.byteLength))
    )
    const [connection] = owner.libp2p.getConnections(consumer.libp2p.peerId)
    const streams: Stream[] = []
    for (let i = 0; i < ENDLESS; i++) streams.push(await connection!.newStream(ENDLESS_PROTOCOL))
    const sending = Promise.allSettled(streams.map(endlessly))
    await eventually('the endless bodies to fill the link', 30_000, () => received > 2 * BYTES_PER_SECOND || undefined)
    assert.equal(await call(), body)
    for (const stream of streams) stream.abort(new Error('enough'))
    await sending
  })
})

async function endlessly(stream: Stream): Promise<never> {
  for (;;) {
    stream.send(CHUNK)
    while (stream.writeBufferLength >= CHUNK.length) await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
  }
}
