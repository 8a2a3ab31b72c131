import type { Connection, MessageStream } from '@libp2p/interface'

/** Bytes have arrived, or the system has taken all that waited to be sent. */
const PASSING = ['message', 'drain'] as const

/** libp2p's type hides what the connection sends and receives by. */
interface Transported {
  readonly maConn?: Pick<MessageStream, 'addEventListener' | 'removeEventListener'>
}

/**
 * Calls `onBytes` whenever bytes pass on the connection. On a slow link, an awaited response comes after them.
 * @returns ends the calls
 */
export function whilePassing(connection: Connection, onBytes: () => void): () => void {
  const { maConn } = connection as Transported
  for (const event of PASSING) maConn?.addEventListener(event, onBytes)
  return () => {
    for (const event of PASSING) maConn?.removeEventListener(event, onBytes)
  }
}
