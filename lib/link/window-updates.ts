/** What of a yamux stream this knows. */
interface Windowed {
  sendWindowUpdate(): void
  /** Bytes the peer may send on a full window, and on what is left of it. */
  readonly recvWindow: number
  readonly recvWindowCapacity: number
}

/**
 * Makes a stream tell its peer of room in the window only when half of it is used up, as yamux is meant to and as it does in
 * Go and Rust. @libp2p/yamux 8 sends an update after every data frame: for a lone call a message each way more, each
 * encrypted, sent and woken up for. Streams of other muxers are left as they are.
 */
export function updateWindowByHalves(stream: object): void {
  if (!isWindowed(stream)) return
  const update = stream.sendWindowUpdate.bind(stream)
  stream.sendWindowUpdate = () => {
    if (stream.recvWindowCapacity <= stream.recvWindow / 2) update()
  }
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
