import assert from 'node:assert/strict'
import type { Connection, Libp2p, MessageStream, Stream } from '@libp2p/interface'
import { systemClock } from '../../../lib/base/clock.ts'
import {
  FRAMES_PER_TURN_MAX,
  FRAMES_PER_TURN_SHARE,
  FRAMES_TURN_MS,
  OPENING_FRAME_COUNT
} from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import { frame, PING, quietPeer, RST, SYN, WINDOW_UPDATE } from '../../helpers/yamux-frames.ts'

const FRAMES = 20 * FRAMES_TURN_MS

interface Header {
  readonly flag: number
  readonly length: number
}

interface Below {
  readonly muxer: {
    readonly maConn: MessageStream
    handlePing(header: Header): void
    onRemoteStream(stream: Stream): void
  }
}
const muxerOf = (connection: Connection) => (connection as unknown as Below).muxer

/** Opens a stream and resets it. */
const openAndReset = (id: number) => [frame(WINDOW_UPDATE, SYN, id, 0), frame(WINDOW_UPDATE, RST, id, 0)]

describe('frames that arrive in one turn of the event loop', () => {
  let node: SoukNode
  const peers: Libp2p[] = []
  /** Each connection at its peer, and at the node. */
  const connections: (readonly [Connection, Connection])[] = []
  /** Pings that the node handled: the connection, the id and the turn. */
  let handled: { readonly from: number; readonly id: number; readonly turn: number }[]

  let currentTurn: number
  /** Frames take no time. */
  let isFast: boolean

  beforeEach(async () => {
    handled = []
    let now = 0
    currentTurn = 0
    isFast = false
    // Each frame takes 1 ms.
    node = await createNode({ clock: { ...systemClock, elapsed: () => (isFast ? now : now++) } })
    await node.start()
    const count = () => {
      currentTurn++
      if (node.libp2p.status === 'started') setImmediate(count)
    }
    count()
    for (const from of [0, 1]) {
      const peer = await quietPeer()
      peers.push(peer)
      const dialled = await peer.dial(node.libp2p.getMultiaddrs())
      const accepted = await eventually('the other end', 5_000, () => node.libp2p.getConnections(peer.peerId)[0])
      const muxer = muxerOf(accepted)
      const handlePing = muxer.handlePing.bind(muxer)
      muxer.handlePing = (header) => {
        if (header.flag === SYN) handled.push({ from, id: header.length, turn: currentTurn })
        // The response to a ping of the node itself.
        else handlePing(header)
      }
      connections.push([dialled, accepted])
    }
  })
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.stop()
    connections.length = 0
    await node.stop()
  })

  function flood(from: number, first = 0): void {
    const frames = Array.from({ length: FRAMES }, (_, id) => frame(PING, SYN, 0, first + id))
    muxerOf(connectionAt(from)[0]).maConn.send(Buffer.concat(frames))
  }

  function connectionAt(from: number): readonly [Connection, Connection] {
    const both = connections[from]
    assert.ok(both)
    return both
  }

  const all = (count: number) =>
    eventually('the node to handle all', 5_000, () => handled.length === count || undefined)

  it('are handled in several turns, all of them and in order', async () => {
    flood(0)
    flood(0, FRAMES)
    await all(2 * FRAMES)
    assert.deepEqual(
      handled.map(({ id }) => id),
      Array.from({ length: 2 * FRAMES }, (_, id) => id)
    )
    const turns = Map.groupBy(handled, ({ turn }) => turn)
    for (const { length } of turns.values()) assert.ok(length <= 2 * FRAMES_TURN_MS, `${length} in one turn`)
    assert.equal(connectionAt(0)[1].status, 'open')
  })

  it('of another connection are handled in between', async () => {
    flood(0)
    flood(1)
    await all(2 * FRAMES)
    const lastOf = (from: number) => handled.findLastIndex((each) => each.from === from)
    assert.ok(Math.abs(lastOf(0) - lastOf(1)) < FRAMES, 'one connection waited for all frames of the other')
  })

  it('are few, however short each takes, and some of each peer', async () => {
    isFast = true
    flood(0)
    flood(1)
    await all(2 * FRAMES)
    for (const ofTurn of Map.groupBy(handled, ({ turn }) => turn).values())
      assert.ok(ofTurn.length <= FRAMES_PER_TURN_MAX + 2 * FRAMES_PER_TURN_SHARE, `${ofTurn.length} in one turn`)
    const lastOf = (from: number) => handled.findLastIndex((each) => each.from === from)
    assert.ok(handled.findIndex((each) => each.from === 1) < lastOf(0), 'one peer waited for all frames of the other')
  })

  it('open few streams of a peer, and some of each other one', async () => {
    const opened: { readonly from: number; readonly turn: number }[] = []
    for (const from of [0, 1]) {
      const muxer = muxerOf(connectionAt(from)[1])
      const onRemoteStream = muxer.onRemoteStream.bind(muxer)
      muxer.onRemoteStream = (stream) => {
        opened.push({ from, turn: currentTurn })
        onRemoteStream(stream)
      }
    }
    const open = (from: number, count: number) => {
      const ids = Array.from({ length: count }, (_, at) => 1_001 + 2 * at)
      muxerOf(connectionAt(from)[0]).maConn.send(Buffer.concat(ids.flatMap(openAndReset)))
    }
    isFast = true
    const most = (FRAMES_PER_TURN_MAX + 2 * FRAMES_PER_TURN_SHARE) / OPENING_FRAME_COUNT
    const count = 10 * most
    open(0, count)
    open(1, count)
    await eventually('the node to open all', 5_000, () => opened.length === 2 * count || undefined)
    for (const ofTurn of Map.groupBy(opened, ({ turn }) => turn).values())
      assert.ok(ofTurn.length <= most, `${ofTurn.length} in one turn`)
    const lastOf = (from: number) => opened.findLastIndex((each) => each.from === from)
    assert.ok(opened.findIndex((each) => each.from === 1) < lastOf(0), 'one peer waited for all streams of the other')
  })

  it('close the connection when a later one of them is invalid', async () => {
    flood(0)
    muxerOf(connectionAt(0)[0]).maConn.send(frame(WINDOW_UPDATE, SYN, 0, 0))
    await eventually('the connection to close', 5_000, () => connectionAt(0)[1].status !== 'open' || undefined)
    assert.equal(handled.length, FRAMES)
    assert.equal(connectionAt(1)[1].status, 'open')
  })

  it('close the connection when one of them is invalid that arrived during the pause', async () => {
    // The node reads both messages at once, because it runs in this process too.
    const { maConn } = muxerOf(connectionAt(0)[0])
    maConn.send(Buffer.concat(Array.from({ length: FRAMES_TURN_MS + 10 }, (_, id) => frame(PING, SYN, 0, id))))
    maConn.send(frame(WINDOW_UPDATE, SYN, 0, 0))
    await eventually('the connection to close', 5_000, () => connectionAt(0)[1].status !== 'open' || undefined)
    flood(1)
    await eventually(
      'the node to handle the others',
      5_000,
      () => handled.findLast(({ from }) => from === 1)?.id === FRAMES - 1 || undefined
    )
  })
})
