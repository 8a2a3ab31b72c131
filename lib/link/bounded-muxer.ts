import type { MessageStream, Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { Clock } from '../base/clock.ts'
import {
  CONNECTION_UNSENT_BYTES_MAX,
  LINK_WINDOW_BYTES_MAX,
  UNNAMED_STREAMS_MAX,
  UNNAMED_STREAMS_MS
} from '../base/limits/link.ts'
import { FrameTurns, type CountedFrame } from './frame-turns.ts'
import { shareLog } from './shared-log.ts'
import { takeTurns } from './stream-turns.ts'
import { dropUnsent } from './unsent-frames.ts'

/** The parts of yamux that this file uses. */
interface Yamux extends StreamMuxer {
  /** Called for the pings of the peer (SYN), and for its responses (ACK). */
  handlePing(header: Header): void
  handleStreamMessage(frame: unknown): void
  onData(data: Uint8ArrayList): void
  onRemoteStream(stream: Stream): void
  sendFrame(header: object, data?: Uint8ArrayList): boolean
  readonly decoder: { readonly buffer: { readonly byteLength: number }; readFrame(): Frame | undefined }
}

interface Frame extends CountedFrame {
  data?: Uint8ArrayList
}

interface Header {
  readonly flag: number
}

/** A stream that waits for the `drain` of its connection. */
interface Waiting {
  onMuxerNeedsDrain?(): void
}

const SYN = 1
const HEADER_BYTES = 12
/** Copying more than a quarter of a message would cost more than it saves. */
const KEPT_PER_BYTE_MAX = 4

/**
 * Limits what a peer can make a connection of yamux hold in memory. @libp2p/yamux 8 queues its responses without a limit
 * for a peer that does not read them, and collects a data frame of any length. Other muxers get only the limit of the queue.
 * `FrameTurns` limits what the peer can make the node do in one turn.
 */
export function boundedMuxer<C>(
  muxer: (components: C) => StreamMuxerFactory,
  clock: Pick<Clock, 'after' | 'elapsed' | 'soon'>
): (components: C) => StreamMuxerFactory {
  return (components) => {
    const inner = muxer(components)
    const turns = new FrameTurns(clock)
    return {
      protocol: inner.protocol,
      createStreamMuxer(connection) {
        connection.maxWriteBufferLength = CONNECTION_UNSENT_BYTES_MAX
        const created = inner.createStreamMuxer(connection)
        if (!isYamux(created)) return created
        dropUnsent(created, connection)
        limitFrames(created)
        turns.limit(created, connection)
        shareLog(created)
        takeTurns(created)
        limitPings(created, connection)
        keepWaiting(created, connection)
        limitUnnamed(created, clock)
        return created
      }
    }
  }
}

/** A frame that is larger than the largest window exceeds the window of its stream. The muxer closes the connection. */
function limitFrames({ decoder }: Yamux): void {
  const readFrame = decoder.readFrame.bind(decoder)
  decoder.readFrame = () => {
    const frame = readFrame()
    if (frame === undefined && decoder.buffer.byteLength > HEADER_BYTES + LINK_WINDOW_BYTES_MAX)
      throw new Error('a frame is larger than the window of a stream')
    if (frame?.data !== undefined) frame.data = ownBytes(frame.data)
    return frame
  }
}

/**
 * The data of a frame is a part of the message that it arrived in. One byte that waits for more would keep 64 KiB in memory, whatever
 * the rest of the message was, so little data is copied.
 */
function ownBytes(data: Uint8ArrayList): Uint8ArrayList {
  const { byteLength } = data
  let kept = 0
  for (const { buffer } of data) kept += buffer.byteLength
  if (byteLength * KEPT_PER_BYTE_MAX >= kept) return data
  // Small buffers of Node.js share a larger one.
  const own = new Uint8Array(byteLength)
  let at = 0
  for (const part of data) {
    own.set(part, at)
    at += part.length
  }
  // A list of the version that yamux uses.
  const copied = data.sublist(0, 0)
  copied.append(own)
  return copied
}

/** On a full connection, only the last ping gets a response, when there is room. A peer waits for one response at a time. */
function limitPings(muxer: Yamux, connection: MessageStream): void {
  const handlePing = muxer.handlePing.bind(muxer)
  let last: Header | undefined
  muxer.handlePing = (header) => {
    if (header.flag === SYN && connection.writableNeedsDrain) last = header
    else handlePing(header)
  }
  connection.addEventListener('drain', () => {
    if (last !== undefined) handlePing(last)
    last = undefined
  })
}

/** A stream whose protocol is not named yet has no handler that limits the streams of its protocol. */
function limitUnnamed(muxer: Yamux, clock: Pick<Clock, 'after'>): void {
  const onRemoteStream = muxer.onRemoteStream.bind(muxer)
  const isUnnamed = ({ direction, protocol }: Stream) => direction === 'inbound' && protocol === ''
  let isWaiting = false
  muxer.onRemoteStream = (stream) => {
    onRemoteStream(stream)
    // Few streams need no search for those without a name.
    if (isWaiting || muxer.streams.length <= UNNAMED_STREAMS_MAX) return
    const unnamed = muxer.streams.filter(isUnnamed)
    if (unnamed.length <= UNNAMED_STREAMS_MAX) return
    isWaiting = true
    // Peers send the name with the stream. Many of them may arrive in one turn.
    clock.after(UNNAMED_STREAMS_MS, () => {
      isWaiting = false
      for (const each of unnamed) if (isUnnamed(each)) each.abort(new Error('too many streams have no protocol'))
    })
  }
}

/** The peer may grant a stream a larger window while the connection is full. Yamux would move the body to the connection. */
function keepWaiting(muxer: Yamux, connection: MessageStream): void {
  const handleStreamMessage = muxer.handleStreamMessage.bind(muxer)
  muxer.handleStreamMessage = (frame) => {
    handleStreamMessage(frame)
    if (connection.writableNeedsDrain) for (const stream of muxer.streams) (stream as Waiting).onMuxerNeedsDrain?.()
  }
}

function isYamux(muxer: StreamMuxer): muxer is Yamux {
  return (
    'handlePing' in muxer &&
    typeof muxer.handlePing === 'function' &&
    'handleStreamMessage' in muxer &&
    typeof muxer.handleStreamMessage === 'function' &&
    'onRemoteStream' in muxer &&
    typeof muxer.onRemoteStream === 'function' &&
    'sendFrame' in muxer &&
    typeof muxer.sendFrame === 'function' &&
    'decoder' in muxer &&
    typeof muxer.decoder === 'object'
  )
}
