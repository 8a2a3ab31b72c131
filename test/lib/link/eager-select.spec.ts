import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Stream } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'
import { byteStream, lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { eventually } from '../../helpers/eventually.ts'

const LINES = '\u0013/multistream/1.0.0\n\u0007/noise\n'
/** A length and an ephemeral key. */
const NOISE_BYTES = 34
const NOTE = 'a note'
const NOTES = 20
const BATCH_MS = 50

describe('protocols that are selected without a round trip', () => {
  let testnet: Testnet
  before(async () => {
    testnet = await createTestnet()
  })
  after(() => testnet.stop())

  const pair = () => testnet.nodes as readonly [SoukNode, SoukNode]
  const connect = async () => {
    const [first, second] = pair()
    return second.libp2p.dial(first.libp2p.getMultiaddrs())
  }

  it('open a stream at once, and deliver what is sent before the response', async () => {
    const [first] = pair()
    await first.libp2p.handle('/test/echo/1.0.0', async (stream) => {
      const messages = lpStream(stream)
      await messages.write(await messages.read())
    })
    const stream = await (await connect()).newStream('/test/echo/1.0.0')
    assert.equal(stream.protocol, '/test/echo/1.0.0')
    const messages = lpStream(stream)
    await messages.write(new Uint8Array([1, 2, 3]))
    assert.deepEqual([...(await messages.read()).subarray()], [1, 2, 3])
    await stream.close()
  })

  it('deliver what is sent with the lines when the end of the stream arrives together with them', async () => {
    const [first, second] = pair()
    const received: string[] = []
    await first.libp2p.handle('/test/note/1.0.0', async (stream) => {
      received.push(Buffer.from((await byteStream(stream).read({ bytes: NOTE.length })).subarray()).toString())
      await stream.close()
    })
    await sendNotes('/test/note/1.0.0', first, second, () => received.length === NOTES)
  })

  it('end a handler that reads to the end when the end of the stream arrives together with the lines', async () => {
    const [first, second] = pair()
    const read: string[] = []
    await first.libp2p.handle('/test/letter/1.0.0', async (stream) => {
      let letter = ''
      for await (const bytes of stream) letter += Buffer.from(bytes.subarray()).toString()
      read.push(letter)
      await stream.close()
    })
    await sendNotes('/test/letter/1.0.0', first, second, () => read.length === NOTES)
    assert.deepEqual(new Set(read), new Set([NOTE]))
  })

  it('leave no stream behind after a ping', async () => {
    const [first, second] = pair()
    const connection = await connect()
    const { ping } = second.libp2p.services as unknown as { readonly ping: Ping }
    for (let n = 0; n < NOTES; n++) await ping.ping(first.libp2p.peerId)
    const pings = () => connection.streams.filter(({ protocol }) => protocol.includes('/ping/'))
    await eventually('the end of all pings', 2_000, () => (pings().length === 0 ? true : undefined))
  })

  it('send no window update for each small message', async () => {
    const [first] = pair()
    const reading = Promise.withResolvers<Stream>()
    let received = 0
    await first.libp2p.handle('/test/ticks/1.0.0', (stream) => {
      stream.addEventListener('message', ({ data }) => (received += data.byteLength))
      reading.resolve(stream)
    })
    const stream = await (await connect()).newStream('/test/ticks/1.0.0')
    stream.send(new Uint8Array(1))
    const updated = countUpdates(await reading.promise)
    for (let n = 1; n < NOTES; n++) {
      stream.send(new Uint8Array(1))
      await eventually('the message', 2_000, () => received > n || undefined)
    }
    assert.equal(updated(), 0)
    await stream.close()
  })

  it('fail at the first read where the peer does not support them, and so only for their stream', async () => {
    const connection = await connect()
    const stream = await connection.newStream('/test/unknown/1.0.0')
    await assert.rejects(lpStream(stream).read(), { name: 'UnsupportedProtocolError' })
    assert.equal(connection.status, 'open')
    await assert.rejects(connection.newStream(['/test/unknown/1.0.0', '/test/unknown/2.0.0']), {
      name: 'UnsupportedProtocolError'
    })
  })

  describe('at a peer that is no node', () => {
    let node: SoukNode
    let received: Buffer
    let answer: string
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket
        .on('error', () => socket.destroy())
        .on('data', (chunk) => {
          received = Buffer.concat([received, chunk])
          if (answer !== '') socket.write(answer)
        })
    })
    before(async () => {
      node = await createNode()
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    })
    beforeEach(() => {
      received = Buffer.alloc(0)
      answer = ''
    })
    after(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await node.stop()
    })
    const dial = (signal?: AbortSignal) => {
      const { port } = server.address() as AddressInfo
      return pair()[0].libp2p.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}`), signal === undefined ? {} : { signal })
    }

    it('send the handshake before any response', async () => {
      const stop = new AbortController()
      const dialled = dial(stop.signal)
      dialled.catch(() => undefined)
      const length = LINES.length + NOISE_BYTES
      await eventually('the handshake', 20_000, () => received.length >= length || undefined)
      assert.equal(received.subarray(0, LINES.length).toString(), LINES)
      assert.equal(received.length, length)
      stop.abort()
      await assert.rejects(dialled)
    })

    for (const wrong of ['\u0013/multistream/1.0.0\n\u0003na\n', 'HTTP/1.1 400 Bad Request\r\n\r\n']) {
      it(`end the dial at the response ${JSON.stringify(wrong)}`, async () => {
        answer = wrong
        await assert.rejects(dial())
      })
    }
  })
})

/** How many frames without data a yamux stream sends: each is a window update, or the end. */
function countUpdates(stream: Stream): () => number {
  const inside = stream as unknown as { sendFrame: (header: unknown, data?: unknown) => boolean }
  const send = inside.sendFrame
  let count = 0
  inside.sendFrame = (header, data) => {
    if (data === undefined) count++
    return send(header, data)
  }
  return () => count
}

/** Sends notes whose stream ends together with them, in the same segment. */
async function sendNotes(protocol: string, first: SoukNode, second: SoukNode, isDone: () => boolean) {
  const port = Number(first.libp2p.getMultiaddrs()[0]?.getComponents()[1]?.value)
  const slow = await inBatches(port)
  try {
    const address = multiaddr(`/ip4/127.0.0.1/tcp/${slow.port}/p2p/${first.libp2p.peerId.toString()}`)
    const connection = await second.libp2p.dial(address, { force: true })
    for (let n = 0; n < NOTES; n++) {
      const stream = await connection.newStream(protocol)
      stream.send(Buffer.from(NOTE))
      await stream.close()
    }
    await eventually('all notes', 5_000, () => isDone() || undefined)
    await connection.close()
  } finally {
    slow.close()
  }
}

/** A forwarder that collects what a node sends, as a busy network does. */
async function inBatches(port: number) {
  const server = createServer((inward) => {
    const outward = connect(port, '127.0.0.1')
    inward.on('error', () => outward.destroy()).on('close', () => outward.destroy())
    outward.on('error', () => inward.destroy()).pipe(inward)
    outward.cork()
    inward.pipe(outward)
    const timer = setInterval(() => {
      outward.uncork()
      outward.cork()
    }, BATCH_MS)
    outward.on('close', () => clearInterval(timer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
