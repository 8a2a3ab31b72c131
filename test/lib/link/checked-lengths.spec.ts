import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { encode } from 'uint8-varint'
import { equals } from 'uint8arrays/equals'
import { ignore } from '../../../lib/base/ignore.ts'
import { DHT_REQUEST_BYTES_MAX } from '../../../lib/base/limits/directory.ts'
import { MESSAGES_UNANSWERED_MAX, SELECT_LINES_MAX } from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { eventually } from '../../helpers/eventually.ts'

/** A length that never ends. */
const NO_LENGTH = new Uint8Array(100).fill(0xff)
const VERSION = '\u0013/multistream/1.0.0\n'
const KAD = '/test/kad/1.0.0'
const EXCHANGE = '/souk/exchange/1.0.0'
const aborted = ({ status }: Stream) => (status === 'aborted' || status === 'reset' ? true : undefined)

describe('lengths that peers send', () => {
  describe('before a connection is encrypted', () => {
    let node: SoukNode
    before(async () => {
      node = await createNode({ listen: ['/ip4/127.0.0.1/tcp/0'] })
      await node.start()
    })
    after(() => node.stop())

    for (const [what, bytes] of [
      ['a length without an end', NO_LENGTH],
      ['a length without an end after a line', Buffer.concat([Buffer.from(VERSION), NO_LENGTH])],
      ['lines without an end', Buffer.from(VERSION + '\u0003ls\n'.repeat(SELECT_LINES_MAX))]
    ] as const) {
      it(`close it: ${what}`, async () => {
        const [address] = node.libp2p.getMultiaddrs()
        const port = Number(/tcp\/(\d+)/.exec(String(address))?.[1])
        const silent = connect(port, '127.0.0.1')
          .on('error', () => {})
          .resume()
        await once(silent, 'connect')
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        socket.resume().write(bytes)
        await eventually('the end of the connection', 2_000, () => socket.closed || undefined)
        assert.equal(silent.closed, false, 'it ended by its time limit')
        silent.destroy()
      })
    }
  })

  describe('on a stream', () => {
    let testnet: Testnet
    before(async () => {
      testnet = await createTestnet()
    })
    after(() => testnet.stop())
    const pair = () => testnet.nodes as readonly [SoukNode, SoukNode]

    for (const protocol of [
      '/souk/manifest/1.0.0',
      '/souk/description/1.0.0',
      '/souk/catalogue/1.0.0',
      '/souk/dial-back/1.0.0'
    ]) {
      it(`abort it, as a request of ${protocol}`, async () => {
        const [first, second] = pair()
        const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
        const silent = await connection.newStream(protocol)
        const stream = await connection.newStream(protocol)
        stream.send(NO_LENGTH)
        await eventually('the end of the stream', 2_000, () => aborted(stream))
        assert.equal(silent.status, 'open', 'it ended by its time limit')
        silent.abort(new Error('the test is over'))
      })
    }

    it('abort it, as a request of every protocol of a node, and of a new one', async () => {
      const [first, second] = pair()
      await first.libp2p.handle('/souk/new/1.0.0', (stream) => void lpStream(stream).read().catch(ignore))
      const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
      // A ping is 32 bytes, without a length. Gossipsub reads nothing after an invalid length.
      const protocols = first.libp2p.getProtocols().filter((protocol) => !/^\/(?:ipfs\/ping|meshsub)\//.test(protocol))
      assert.ok(protocols.length > 10)
      for (const protocol of protocols) {
        const stream = await connection.newStream(protocol, { runOnLimitedConnection: true })
        stream.send(NO_LENGTH)
        await eventually(`the end of ${protocol}`, 2_000, () => (stream.status === 'open' ? undefined : true))
      }
    })

    it('abort it, as a request of the DHT that is too long', async () => {
      const [first, second] = pair()
      const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
      const dht = first.libp2p.getProtocols().find((protocol) => /^\/souk\/.+\/kad\//.test(protocol))
      assert.ok(dht !== undefined)
      const accepted = await connection.newStream(dht)
      accepted.send(encode(DHT_REQUEST_BYTES_MAX))
      const stream = await connection.newStream(dht)
      stream.send(encode(DHT_REQUEST_BYTES_MAX + 1))
      await eventually('the end of the stream', 2_000, () => aborted(stream))
      assert.equal(accepted.status, 'open', 'it ended by its time limit')
      accepted.abort(new Error('the test is over'))
    })

    it('abort it, as a response, and as a second message', async () => {
      const [first, second] = pair()
      await first.libp2p.handle(KAD, (stream) => {
        stream.send(Uint8Array.of(2, 1, 2, ...NO_LENGTH))
      })
      const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
      const stream = await connection.newStream(KAD)
      await eventually('the end of the stream', 2_000, () => aborted(stream))
    })

    it('abort it when requests come in a row without waiting for a response, but not one after the other', async () => {
      const [first, second] = pair()
      await first.libp2p.unhandle(KAD)
      await first.libp2p.handle(KAD, async (stream) => {
        const messages = lpStream(stream)
        while (stream.status === 'open') await messages.write(await messages.read())
      })
      const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
      const stream = await connection.newStream(KAD)
      const messages = lpStream(stream)
      for (let n = 0; n < MESSAGES_UNANSWERED_MAX * 2; n++) {
        await messages.write(Uint8Array.of(n))
        await messages.read()
      }
      stream.send(new Uint8Array(MESSAGES_UNANSWERED_MAX + 1))
      await eventually('the end of the stream', 2_000, () => aborted(stream))
    })

    it('leave other messages alone, however they arrive', async () => {
      const [first, second] = pair()
      const long = new Uint8Array(300_000).fill(0xff)
      await first.libp2p.handle(EXCHANGE, async (stream) => {
        const messages = lpStream(stream)
        for (let n = 0; n < 3; n++) await messages.write(await messages.read())
      })
      const connection = await second.libp2p.dial(first.libp2p.getMultiaddrs())
      const stream = await connection.newStream(EXCHANGE)
      const messages = lpStream(stream)
      for (const sent of [new Uint8Array(0), long, Uint8Array.of(0xff)]) {
        await messages.write(sent)
        assert.ok(equals((await messages.read()).subarray(), sent), `${sent.length} bytes`)
      }
      await stream.close()
    })
  })
})
