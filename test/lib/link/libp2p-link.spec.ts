import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p, StreamHandler } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import type { Clock } from '../../../lib/base/clock.ts'
import {
  EARLY_STREAMS_MAX,
  EXCHANGE_MS,
  EXCHANGE_MS_MAX,
  HEARTBEAT_ANSWER_MS,
  HELLO_MS,
  LINK_BUFFER_BYTES_MAX,
  LINK_PROBE_MS,
  LINK_WINDOW_BYTES_MAX,
  SILENCE_CHECK_MS,
  STREAMS_PER_CONNECTION_MAX
} from '../../../lib/base/limits/link.ts'
import type { ExchangeHandler } from '../../../lib/interface/link.ts'
import { corked } from '../../../lib/link/cork.ts'
import { type LinkComponents, Libp2pLink } from '../../../lib/link/libp2p-link.ts'
import { noiseCrypto } from '../../../lib/link/noise-crypto.ts'
import { muxerOf } from '../../../lib/link/ping-connection.ts'
import { soukTcp } from '../../../lib/link/souk-tcp.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { forwarder } from '../../helpers/forwarder.ts'
import { portOf } from '../../helpers/port-of.ts'
import { linkSuite } from '../../suites/link.ts'
import { MiB, stopped } from '../../suites/link-bench.ts'

const SLOW_PROTOCOL = '/test/slow/1.0.0'
const BODY_PROTOCOL = '/test/body/1.0.0'

type LinkNode = Libp2p<{ link: Libp2pLink }>

/** A libp2p node with the settings of `lib/create-node.ts`, with only a link on it. */
function linkNode(clock: Clock, denyDialMultiaddr = async () => false): Promise<LinkNode> {
  return createLibp2p({
    start: false,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [soukTcp()],
    connectionEncrypters: [corked(noise({ crypto: noiseCrypto() }))],
    streamMuxers: [
      yamux({
        maxInboundStreams: STREAMS_PER_CONNECTION_MAX,
        maxOutboundStreams: STREAMS_PER_CONNECTION_MAX,
        maxEarlyStreams: EARLY_STREAMS_MAX,
        // A test counts pings.
        enableKeepAlive: false,
        streamOptions: { maxStreamWindowSize: LINK_WINDOW_BYTES_MAX, maxWriteBufferLength: LINK_BUFFER_BYTES_MAX }
      })
    ],
    connectionGater: { denyDialMultiaddr },
    services: { link: (components: LinkComponents) => new Libp2pLink(components, clock) }
  })
}

linkSuite('the libp2p link', async () => {
  const clock = manualClock()
  const nodes = await Promise.all([linkNode(clock), linkNode(clock)])
  const [a, b] = nodes
  const stranger = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
  return {
    a: a.services.link,
    b: b.services.link,
    address: (of) => {
      const node = of === a.services.link ? a : b
      return { id: of.self, addresses: node.getMultiaddrs().map(String) }
    },
    // The discard port, where no process listens.
    nobody: { id: stranger.toString(), addresses: ['/ip4/127.0.0.1/tcp/9'] },
    start: async () => {
      for (const node of nodes) await node.start()
    },
    advance: (ms) => clock.advance(ms),
    dispose: async () => {
      for (const node of nodes) await stopped(Promise.resolve(node.stop()), clock.advance)
    }
  }
})

describe('the libp2p link', () => {
  let clock: ManualClock
  let a: LinkNode
  let b: LinkNode
  let clockOfB: ManualClock
  let respond: ExchangeHandler
  let mayDial: Promise<unknown>
  beforeEach(async () => {
    mayDial = Promise.resolve()
    ;[clock, clockOfB] = [manualClock(), manualClock()]
    ;[a, b] = await Promise.all([linkNode(clock, () => mayDial.then(() => false)), linkNode(clockOfB)])
    b.services.link.serve(SLOW_PROTOCOL, (request, from) => respond(request, from), { requestBytesMax: 1 })
    for (const node of [a, b]) await node.start()
  })
  afterEach(async () => {
    await stopped(Promise.resolve(a.stop()), clock.advance)
    await stopped(Promise.resolve(b.stop()), clockOfB.advance)
  })

  for (const [what, limitMs] of [
    ['an exchange', EXCHANGE_MS],
    ['a channel', HELLO_MS]
  ] as const) {
    it(`gives ${what} its time again when the peer has connected, and its handshake starts`, async () => {
      const { signal } = new AbortController()
      const dial = Promise.withResolvers<void>()
      mayDial = dial.promise
      const between = await forwarder(portOf(b))
      between.silence()
      const address = { id: b.peerId.toString(), addresses: [`/ip4/127.0.0.1/tcp/${between.port}`] }
      respond = async () => new Uint8Array(1)
      const { link } = a.services
      const result =
        what === 'a channel'
          ? link.connect(address, signal)
          : link.exchange(address, SLOW_PROTOCOL, new Uint8Array(1), { responseBytesMax: 1, signal })
      await clock.advance(limitMs - 1)
      dial.resolve()
      await eventually('the handshake', 5_000, async () => (between.waits() ? true : undefined))
      await clock.advance(limitMs - 1)
      between.proceed()
      await result
      between.stop()
    })
  }

  it('closes a connection whose peer is silent while it owes responses, after a ping', async () => {
    let pings = 0
    const address = { id: b.peerId.toString(), addresses: b.getMultiaddrs().map(String) }
    const channel = await a.services.link.connect(address, new AbortController().signal)
    const accepted = await eventually('the other end', 1_000, () => b.getConnections(a.peerId)[0])
    Object.assign(muxerOf(accepted) ?? {}, { handlePing: () => void pings++ })
    const closed = new Promise<void>((resolve) => (channel.onClose = () => resolve()))
    await clock.advance(3 * SILENCE_CHECK_MS)
    assert.equal(pings, 0)
    channel.send(new Uint8Array(1))
    await clock.advance(2 * SILENCE_CHECK_MS)
    await eventually('a ping', 1_000, () => (pings > 0 ? true : undefined))
    assert.equal(channel.open, true)
    await clock.advance(LINK_PROBE_MS)
    await closed
    assert.equal(a.getConnections().length, 0)
  })

  describe('exchanges over a slow link', () => {
    let way: Awaited<ReturnType<typeof forwarder>>
    let bytes: number
    beforeEach(async () => {
      way = await forwarder(portOf(b))
      bytes = 0
      const read: StreamHandler = (stream) =>
        stream.addEventListener('message', ({ data }) => (bytes += data.byteLength))
      await a.handle(BODY_PROTOCOL, read)
    })
    afterEach(() => way.stop())

    /** Starts an exchange. Resolves when the peer has its request. */
    async function start() {
      const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Uint8Array>()]
      respond = () => {
        asked.resolve()
        return answer.promise
      }
      const peer = { id: b.peerId.toString(), addresses: [`/ip4/127.0.0.1/tcp/${way.port}`] }
      const options = { responseBytesMax: MiB, signal: new AbortController().signal }
      const exchanging = a.services.link.exchange(peer, SLOW_PROTOCOL, new Uint8Array(1), options)
      await asked.promise
      const body = await b.getConnections(a.peerId)[0]!.newStream(BODY_PROTOCOL)
      /** Sends a byte of a body that passes before the response. */
      const pass = async () => {
        const before = bytes
        body.send(new Uint8Array(1))
        await eventually('the byte', 2_000, () => (bytes > before ? true : undefined))
      }
      await pass()
      return { exchanging, pass, answer: answer.resolve }
    }
    const advance = async (ms: number) => void (await Promise.all([clock.advance(ms), clockOfB.advance(ms)]))

    it('wait for a response while bytes pass before it', async () => {
      const { exchanging, pass, answer } = await start()
      for (let round = 0; round < 3; round++) {
        await advance(HEARTBEAT_ANSWER_MS - 1)
        await pass()
      }
      answer(new Uint8Array(1))
      assert.equal((await exchanging).length, 1)
    })

    it('end with a peer that lets bytes pass for ever', async () => {
      const { exchanging, pass } = await start()
      let isOver = false
      const failing = assert.rejects(exchanging, { code: 'owner_unreachable' }).finally(() => (isOver = true))
      for (let ms = 0; ms < EXCHANGE_MS_MAX - HEARTBEAT_ANSWER_MS; ms += HEARTBEAT_ANSWER_MS - 1) {
        await advance(HEARTBEAT_ANSWER_MS - 1)
        await pass()
      }
      assert.equal(isOver, false)
      await advance(HEARTBEAT_ANSWER_MS)
      await failing
    })

    it('end with a peer that falls silent', async () => {
      const { exchanging } = await start()
      const failing = assert.rejects(exchanging, { code: 'owner_unreachable' })
      way.silence()
      await advance(HEARTBEAT_ANSWER_MS)
      await failing
    })
  })

  it('pings the earlier connection of a peer that connects again, and closes it if the peer is silent', async () => {
    const lost = await b.dial(a.getMultiaddrs())
    Object.assign(muxerOf(lost) ?? {}, { handlePing: () => {} })
    await eventually('the first connection', 1_000, () => a.getConnections()[0])
    const kept = await b.dial(a.getMultiaddrs(), { force: true })
    await eventually('the second connection', 1_000, () => a.getConnections()[1])
    await clock.advance(LINK_PROBE_MS)
    await eventually('the end of the first one', 1_000, () => (lost.status === 'open' ? undefined : true))
    assert.equal(a.getConnections().length, 1)
    assert.equal(kept.status, 'open')
  })
})
