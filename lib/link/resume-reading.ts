import type { MessageStream } from '@libp2p/interface'

/** The part of libp2p's streams that tells whether they are paused. Connections have it too. */
interface Pausable extends MessageStream {
  readonly readStatus?: string
}

/**
 * Reads a paused stream or connection on. `resume` first delivers what has arrived, which may close it, and then throws. It throws for a
 * paused stream whose connection is closed too. `close` reports both, and an error in a timer would end the process.
 */
export function resumeReading(stream: Pausable): void {
  if (stream.readStatus !== 'paused') return
  try {
    stream.resume()
  } catch {
    // Closed.
  }
}
