import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import { STREAM_TURN_BYTES_MAX } from '../base/limits/link.ts'
import { CALL_PROTOCOL } from './stream-channel.ts'

/** The parts of yamux that this file uses. */
interface Muxer {
  /** In the order in which they may send when the connection has room again. */
  readonly streams: Stream[]
  createStream(options?: object): Promise<Stream>
  onRemoteStream(stream: Stream): void
}

/** The method of yamux's streams that moves bytes into the connection: all that the peer has granted, and is queued. */
interface Sending {
  sendData(data: Uint8ArrayList): { readonly sentBytes: number; readonly canSendMore: boolean }
}

/**
 * Lets the streams of a full connection send in turn, a part each. libp2p always begins with the oldest one, which sends up to 4 MiB, so on
 * a slow link some large bodies would hold back all newer ones. Streams of calls stay first: their frames are small, and belong to many calls.
 */
export function takeTurns(muxer: Muxer): void {
  const createStream = muxer.createStream.bind(muxer)
  muxer.createStream = async (options) => {
    const stream = await createStream(options)
    lastAfterData(stream, muxer)
    return stream
  }
  const onRemoteStream = muxer.onRemoteStream.bind(muxer)
  muxer.onRemoteStream = (stream) => {
    lastAfterData(stream, muxer)
    onRemoteStream(stream)
  }
}

function lastAfterData(stream: Stream, { streams }: Muxer): void {
  if (!isSending(stream)) return
  const sendData = stream.sendData.bind(stream)
  stream.sendData = (data) => {
    if (stream.protocol === CALL_PROTOCOL) return sendData(data)
    moveToEnd(streams, stream)
    return sendData(data.byteLength > STREAM_TURN_BYTES_MAX ? data.sublist(0, STREAM_TURN_BYTES_MAX) : data)
  }
}

function moveToEnd(streams: Stream[], stream: Stream): void {
  if (streams.at(-1) === stream) return
  const at = streams.indexOf(stream)
  if (at === -1) return
  streams.splice(at, 1)
  streams.push(stream)
}

function isSending(stream: object): stream is Sending {
  return 'sendData' in stream && typeof stream.sendData === 'function'
}
