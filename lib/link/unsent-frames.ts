import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** The parts of yamux that this file uses. */
interface Framing {
  sendFrame(header: object, data?: Uint8ArrayList): boolean
  readonly decoder: { readFrame(): unknown }
}

/**
 * Drops frames without data that a closed connection does not send, and those that have arrived when it closes. yamux sends its own frames
 * (windows, pings, resets, the end) from events, timers and microtasks, where an error would end the process. The connection emits `close`.
 */
export function dropUnsent(muxer: Framing, connection: Pick<MessageStream, 'status'>): void {
  const sendFrame = muxer.sendFrame.bind(muxer)
  muxer.sendFrame = (header, data) => {
    // The writer of a body gets the error.
    if (data !== undefined) return sendFrame(header, data)
    try {
      return sendFrame(header)
    } catch {
      return false
    }
  }
  const { decoder } = muxer
  const readFrame = decoder.readFrame.bind(decoder)
  decoder.readFrame = () => (connection.status === 'open' ? readFrame() : undefined)
}
