import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { Connection, Libp2p, MessageStream } from '@libp2p/interface'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import {
  CONNECTION_UNSENT_BYTES_MAX,
  HEARTBEAT_ANSWER_MS,
  HEARTBEAT_MS,
  LINK_WINDOW_BYTES_MAX,
  UNNAMED_STREAMS_MAX
} from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import { ACK, DATA, frame, HEADER_BYTES, PING, quietPeer, SYN, WINDOW_UPDATE } from '../../helpers/yamux-frames.ts'

/** Responses to so many frames do not fit into the buffer of a connection. */
const FRAMES = Math.ceil((2 * CONNECTION_UNSENT_BYTES_MAX) / HEADER_BYTES)
/** Their bodies fill all buffers between two nodes on one machine. libp2p allows so many of one protocol. */
const STREAMS = 64
const BODIES = 5
const HELD = '/test/held/1.0.0'
const BODY = Buffer.alloc(300 * 1024)

/** The parts of a libp2p connection below its streams. */
interface Below {
  readonly maConn: { readonly socket: Socket }
  readonly muxer: {
    readonly maConn: MessageStream
    handlePing(header: { readonly flag: number; readonly length: number }): void
  }
}
const below = (connection: Connection) => connection as unknown as Below
const socketOf = (connection: Connection) => below(connection).maConn.socket
const encrypted = (connection: Connection) => below(connection).muxer.maConn

/** Without the heartbeat, which closes connections of peers that read nothing, on a slow machine before the test is over. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) =>
    delayMs > HEARTBEAT_ANSWER_MS && delayMs <= HEARTBEAT_MS ? { cancel() {} } : systemClock.after(delayMs, task)
}

describe('what a peer can make a connection hold', () => {
  let node: SoukNode
  let peer: Libp2p
  /** The connection at the peer, and at the node. */
  let dialled: Connection
  let accepted: Connection
  let reason: string
  /** The end that dialled opens odd streams. */
  let lastStream: number

  beforeEach(async () => {
    node = await createNode({ clock })
    await node.start()
    peer = await quietPeer()
    reason = ''
    lastStream = 999_999
    dialled = await peer.dial(node.libp2p.getMultiaddrs())
    accepted = await eventually('the other end', 5_000, () => node.libp2p.getConnections(peer.peerId)[0])
    accepted.addEventListener('close', ({ error }) => (reason = error?.message ?? ''))
  })
  afterEach(async () => {
    socketOf(dialled).resume()
    await peer.stop()
    await node.stop()
  })

  const unsent = () => encrypted(accepted).writeBufferLength

  /** The peer reads nothing from here on, and the node sends until its connection is full. */
  async function fill(): Promise<void> {
    socketOf(dialled).pause()
    for (let at = 0; at < STREAMS; at++) {
      const stream = await accepted.newStream('/test/fill/1.0.0')
      stream.send(BODY)
    }
    let before = 0
    await eventually('the buffers of both machines to be full', 5_000, () => {
      const left = accepted.streams.reduce((sum, { writeBufferLength }) => sum + writeBufferLength, 0)
      const isFull = left === before && encrypted(accepted).writableNeedsDrain
      before = left
      return isFull || undefined
    })
  }

  /** Many frames for each encrypted message. */
  function send(frames: readonly Buffer[]): void {
    for (let at = 0; at < frames.length; at += 5_000)
      encrypted(dialled).send(Buffer.concat(frames.slice(at, at + 5_000)))
  }

  /** Resolves when the node has read everything that the peer sent. */
  async function read(): Promise<void> {
    const last = (lastStream += 2)
    send([frame(WINDOW_UPDATE, SYN, last, 0)])
    const hasArrived = () => accepted.streams.some(({ id }) => Number(id) === last)
    await eventually('the node to read all', 5_000, () => hasArrived() || undefined)
  }

  /** The reason why the node closed the connection. */
  const closed = () =>
    eventually('the connection to close', 5_000, () => (accepted.status === 'open' ? undefined : reason))

  it('is one response to the pings of a peer that does not read', async () => {
    const answered: number[] = []
    below(dialled).muxer.handlePing = ({ flag, length }) => void (flag === ACK && answered.push(length))
    await fill()
    send(Array.from({ length: FRAMES }, (_, id) => frame(PING, SYN, 0, id)))
    await read()
    assert.equal(accepted.status, 'open')
    assert.ok(unsent() < CONNECTION_UNSENT_BYTES_MAX / 4, `${unsent()} bytes`)
    socketOf(dialled).resume()
    await eventually('the last ping to be answered', 5_000, () => answered.includes(FRAMES - 1) || undefined)
    assert.ok(answered.length < FRAMES / 4, `${answered.length} answers`)
  })

  it('is no body, although the peer asks for more of each', async () => {
    await fill()
    const ids = accepted.streams.filter(({ protocol }) => protocol === '/test/fill/1.0.0').map(({ id }) => Number(id))
    for (const id of ids.slice(0, BODIES)) {
      send([frame(WINDOW_UPDATE, 0, id, BODY.length)])
      await read()
    }
    assert.equal(accepted.status, 'open')
    assert.ok(unsent() < CONNECTION_UNSENT_BYTES_MAX / 4, `${unsent()} bytes`)
  })

  it('ends with the connection where it is responses of other kinds', async () => {
    await fill()
    // The node accepts a few of these streams, and resets the others.
    send(Array.from({ length: FRAMES }, (_, at) => frame(WINDOW_UPDATE, SYN, 2 * at + 1_001, 0)))
    assert.match(await closed(), /Write buffer/)
    assert.equal(unsent(), 0)
  })

  it('is not many streams without a protocol, for more than a moment', async () => {
    const named = await dialled.newStream('/ipfs/ping/1.0.0')
    const inbound = () => accepted.streams.filter(({ direction }) => direction === 'inbound')
    const unnamed = () => inbound().filter(({ protocol }) => protocol === '').length
    send(Array.from({ length: 2 * UNNAMED_STREAMS_MAX }, (_, at) => frame(WINDOW_UPDATE, SYN, 2 * at + 1_001, 0)))
    await eventually('the streams', 5_000, () => unnamed() > UNNAMED_STREAMS_MAX || undefined)
    await eventually('their end', 5_000, () => unnamed() < UNNAMED_STREAMS_MAX || undefined)
    assert.equal(accepted.status, 'open')
    assert.equal(named.status, 'open')
  })

  it('is no large message for a small part of it', async () => {
    const held: Uint8Array[] = []
    await node.libp2p.handle(HELD, (stream) => {
      stream.addEventListener('message', ({ data }) => void held.push(...(data instanceof Uint8Array ? [data] : data)))
    })
    const stream = await dialled.newStream(HELD)
    const bytes = Buffer.from('small')
    // The node has no stream of the second frame.
    const rest = Buffer.alloc(60_000)
    send([
      Buffer.concat([
        frame(DATA, 0, Number(stream.id), bytes.length),
        bytes,
        frame(DATA, 0, lastStream, rest.length),
        rest
      ])
    ])
    await eventually('the bytes', 5_000, () => held.length > 0 || undefined)
    assert.deepEqual(Buffer.concat(held), bytes)
    for (const { buffer } of held) assert.ok(buffer.byteLength < 10 * bytes.length, `${buffer.byteLength} bytes`)
  })

  it('is no frame above the window of a stream', async () => {
    send([frame(DATA, SYN, 1_001, 2 * LINK_WINDOW_BYTES_MAX)])
    const sent = LINK_WINDOW_BYTES_MAX + BODY.length
    for (let at = 0; at < sent && dialled.status === 'open'; at += BODY.length) encrypted(dialled).send(BODY)
    assert.match(await closed(), /window/)
  })
})
