import { KiB } from '../base/limits/units.ts'

/** The parts of a yamux stream that this file uses. */
interface Windowed {
  sendWindowUpdate(): void
  /** Bytes the peer may send: full window, and its current rest. */
  recvWindow: number
  readonly recvWindowCapacity: number
}

/**
 * Sends a stream's window updates only after half of the window is used, as in the yamux implementations in Go and
 * Rust. @libp2p/yamux 8 sends one after every data frame, which costs a single call an extra encrypted message each
 * way. Streams of other muxers are unchanged, and so are those that `eagerMuxer` has changed before.
 */
export function updateWindowByHalves(stream: object): void {
  // The method of the class is not an own property.
  if (!isWindowed(stream) || Object.hasOwn(stream, 'sendWindowUpdate')) return
  const update = stream.sendWindowUpdate.bind(stream)
  stream.sendWindowUpdate = () => {
    if (stream.recvWindowCapacity <= stream.recvWindow / 2) update()
  }
}

/** A new stream's window: the least of the yamux specification. */
const FIRST_WINDOW_BYTES = 256 * KiB

/** Makes the window of a stream as small as that of a new one. Yamux only lets windows grow, until the stream ends. */
export function narrowWindow(stream: object): void {
  if (isWindowed(stream)) stream.recvWindow = Math.min(stream.recvWindow, FIRST_WINDOW_BYTES)
}

function isWindowed(stream: object): stream is Windowed {
  return (
    'sendWindowUpdate' in stream &&
    typeof stream.sendWindowUpdate === 'function' &&
    'recvWindow' in stream &&
    typeof stream.recvWindow === 'number' &&
    'recvWindowCapacity' in stream &&
    typeof stream.recvWindowCapacity === 'number'
  )
}
