import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import type { Libp2p } from '@libp2p/interface'
import { streamPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { KiB, MiB } from '../../../lib/base/limits/units.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { isSoukError } from '../../../lib/base/errors.ts'
import { UNREAD_BYTES_MAX, UNREAD_CHECK_MS } from '../../../lib/base/limits/link.ts'
import type { BulkSource } from '../../../lib/interface/link.ts'
import { type LinkComponents, Libp2pLink } from '../../../lib/link/libp2p-link.ts'
import { soukTcp } from '../../../lib/link/souk-tcp.ts'
import { StreamSource } from '../../../lib/link/stream-source.ts'
import { type UnreadBody, UnreadBodies } from '../../../lib/link/unread-bodies.ts'
import { eventually } from '../../helpers/eventually.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

type LinkNode = Libp2p<{ link: Libp2pLink }>

const BOUND_MS = 10_000

async function linkNode(unread?: UnreadBodies): Promise<LinkNode> {
  const node: LinkNode = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [soukTcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionGater: { denyDialMultiaddr: () => false },
    services: { link: (components: LinkComponents) => new Libp2pLink(components, systemClock, unread) }
  })
  return node
}

describe('bodies that wait for their readers', () => {
  const bodies: Array<UnreadBody & { aborted?: Error; isNarrow?: true }> = []
  const body = (peer: string, unreadBytes: number) => {
    const made: (typeof bodies)[number] = {
      peer,
      unreadBytes,
      narrow: () => void Object.assign(made, { isNarrow: true }),
      abort: (error) => Object.assign(made, { aborted: error, unreadBytes: 0 })
    }
    bodies.push(made)
    return made
  }
  const aborted = () => bodies.map(({ aborted }) => aborted !== undefined)

  beforeEach(() => void bodies.splice(0))

  it('are aborted above the limit: the largest ones of the peers that hold most', async () => {
    const clock = manualClock()
    const unread = new UnreadBodies(clock, 100)
    for (const one of [body('a', 30), body('b', 50), body('a', 40), body('c', 20)]) unread.watch(one)
    await clock.advance(UNREAD_CHECK_MS)
    assert.deepEqual(aborted(), [false, false, true, false])
    unread.watch(body('b', 10))
    await clock.advance(UNREAD_CHECK_MS)
    assert.deepEqual(aborted(), [false, true, true, false, false])
    assert.ok(isSoukError(bodies[1]?.aborted) && bodies[1].aborted.code === 'overloaded')
  })

  it('lose their grown windows where they are many', async () => {
    const clock = manualClock()
    const unread = new UnreadBodies(clock)
    for (let at = 0; at < 15; at++) unread.watch(body('a', 4 * MiB))
    unread.watch(body('b', 100 * KiB))
    await clock.advance(UNREAD_CHECK_MS)
    assert.ok(bodies.every(({ isNarrow }) => isNarrow === undefined))
    unread.watch(body('a', 5 * MiB))
    await clock.advance(UNREAD_CHECK_MS)
    assert.deepEqual(
      bodies.map(({ isNarrow }) => isNarrow === true),
      bodies.map(({ unreadBytes }) => unreadBytes > 100 * KiB)
    )
    assert.ok(aborted().every((isAborted) => !isAborted))
  })

  it('count as the memory of their parts, which may have one byte each', async () => {
    const [outbound, inbound] = await streamPair()
    const source = new StreamSource(inbound, 'a', new UnreadBodies(manualClock()))
    const parts = 1_000
    outbound.send(Buffer.from([1, 0, ...Array.from({ length: parts }, () => [1, 7]).flat(), 0]))
    await source.tag
    await eventually('the body', 2_000, () => source.unreadBytes >= 100 * parts || undefined)
    let bytes = 0
    for await (const chunk of source) bytes += chunk.length
    assert.equal(bytes, parts)
    assert.equal(source.unreadBytes, 0)
  })

  it('are watched until they are read', async () => {
    const clock = manualClock()
    const unread = new UnreadBodies(clock)
    const one = body('a', UNREAD_BYTES_MAX)
    unread.watch(one)
    await clock.advance(UNREAD_CHECK_MS)
    assert.deepEqual([aborted(), clock.pending], [[false], 1])
    Object.assign(one, { unreadBytes: 0 })
    await clock.advance(UNREAD_CHECK_MS)
    assert.equal(clock.pending, 0)
  })

  it('have the window of a new stream again, once it is narrowed', async () => {
    const [target, sender] = await Promise.all([linkNode(), linkNode()])
    const { promise: arrived, resolve: onBulk } = Promise.withResolvers<BulkSource & UnreadBody>()
    target.services.link.onBulk = (_peer, _tag, source) => onBulk(source as BulkSource & UnreadBody)
    try {
      const address = { id: target.peerId.toString(), addresses: target.getMultiaddrs().map(String) }
      const channel = await sender.services.link.connect(address, new AbortController().signal)
      const sink = await channel.openBulk(Uint8Array.of(1), new AbortController().signal)
      const source = await arrived
      const streams = target.getConnections()[0]?.streams ?? []
      const stream = streams.find(({ protocol }) => protocol === '/souk/bulk/1.0.0')
      assert.ok(stream !== undefined)
      Object.assign(stream, { recvWindow: 4 * MiB })
      source.narrow()
      assert.equal((stream as unknown as { recvWindow: number }).recvWindow, 256 * KiB)
      const sent = (async () => {
        for (let at = 0; at < 40; at++) await sink.write(new Uint8Array(100 * KiB))
        await sink.end()
      })()
      let bytes = 0
      for await (const chunk of source as AsyncIterable<Uint8Array>) bytes += chunk.length
      await sent
      assert.equal(bytes, 4_000 * KiB)
    } finally {
      for (const node of [sender, target]) await node.stop()
    }
  })

  it('do not fill the memory of a node, and leave the body of another peer', async () => {
    const target = await linkNode(new UnreadBodies(systemClock, MiB))
    const [flooder, other] = await Promise.all([linkNode(), linkNode()])
    const received = new Map<string, BulkSource[]>()
    target.services.link.onBulk = (peer, _tag, source) => {
      received.set(peer, [...(received.get(peer) ?? []), source])
    }
    const address = { id: target.peerId.toString(), addresses: target.getMultiaddrs().map(String) }
    const never = new AbortController().signal
    const send = async (node: LinkNode, streams: number, bytes: number) => {
      const channel = await node.services.link.connect(address, never)
      return Promise.all(
        Array.from({ length: streams }, async (_, at) => {
          const sink = await channel.openBulk(Uint8Array.of(at), never)
          void sink.write(new Uint8Array(bytes)).catch(() => {})
          return sink
        })
      )
    }
    try {
      const [kept] = await send(other, 1, 100 * KiB)
      await send(flooder, 20, 200 * KiB)
      const heldBy = (node: LinkNode) =>
        (received.get(node.peerId.toString()) as unknown as UnreadBody[] | undefined)?.map((one) => one.unreadBytes) ??
        []
      await eventually('the flood', BOUND_MS, () => (heldBy(flooder).length === 20 ? true : undefined))
      await eventually('the limit', BOUND_MS, () =>
        heldBy(flooder).reduce((sum, bytes) => sum + bytes, 0) <= MiB ? true : undefined
      )
      assert.ok(heldBy(flooder).filter((bytes) => bytes === 0).length >= 15)
      await kept?.end()
      let bytes = 0
      const [source] = received.get(other.peerId.toString()) ?? []
      for await (const chunk of { [Symbol.asyncIterator]: () => (source as BulkSource)[Symbol.asyncIterator]() })
        bytes += chunk.length
      assert.equal(bytes, 100 * KiB)
    } finally {
      for (const node of [flooder, other, target]) await node.stop()
    }
  })
})
