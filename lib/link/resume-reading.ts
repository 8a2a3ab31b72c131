import type { MessageStream, Stream } from '@libp2p/interface'

/** An encrypted connection has this status too, as libp2p's streams. */
export type Pausable = MessageStream & Partial<Pick<Stream, 'readStatus'>>

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
