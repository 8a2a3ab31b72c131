import type { Connection, Stream } from '@libp2p/interface'
import { PING_PROTOCOL } from '@libp2p/ping'
import { byteStream } from '@libp2p/utils'
import { type Clock, deadline } from '../base/clock.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { whilePassing } from './while-passing.ts'

const PING_BYTES = 32

/** Yamux, which pings without a stream. `handlePing` receives the pings of the peer. */
export interface PingingMuxer {
  ping(options: { readonly signal: AbortSignal }): Promise<unknown>
  handlePing?(header: unknown): void
}

/** The muxer of a connection where it is yamux. QUIC has none. */
export function muxerOf(connection: Connection): PingingMuxer | undefined {
  const { muxer } = connection as { readonly muxer?: Partial<PingingMuxer> }
  return typeof muxer?.ping === 'function' ? (muxer as PingingMuxer) : undefined
}

export interface PingInit {
  readonly clock: Clock
  /** The time for the peer to respond. It starts again while bytes pass, because on a slow link the response comes after them. */
  readonly answerMs: number
  /** Ends the ping without closing the connection. */
  readonly signal?: AbortSignal
  /** Default: the system's. */
  readonly random?: Random
}

/**
 * Pings a peer, and aborts its connection if the peer does not respond in time. Resolves when it has responded. Rejects
 * otherwise: any other error shows that the peer is there, or that this end has too many streams.
 */
export async function pingOrAbort(
  connection: Connection,
  { clock, answerMs, signal, random = systemRandom }: PingInit
): Promise<void> {
  const silent = () => new Error('the peer did not respond to a ping in time')
  const limit = deadline(clock, answerMs, silent, signal)
  const stopWatch = whilePassing(connection, () => limit.restart(answerMs))
  try {
    await ping(connection, limit.signal, random)
  } catch (error) {
    if (limit.signal.aborted && signal?.aborted !== true) connection.abort(silent())
    throw error
  } finally {
    stopWatch()
    limit.clear()
  }
}

async function ping(connection: Connection, signal: AbortSignal, random: Random): Promise<void> {
  const muxer = muxerOf(connection)
  if (muxer !== undefined) {
    await muxer.ping({ signal })
    return
  }
  let stream: Stream | undefined
  try {
    stream = await connection.newStream(PING_PROTOCOL, { signal, runOnLimitedConnection: true })
    const bytes = byteStream(stream)
    await bytes.write(random.fill(new Uint8Array(PING_BYTES)), { signal })
    await bytes.read({ bytes: PING_BYTES, signal })
    await stream.close({ signal })
  } catch (error) {
    stream?.abort(error instanceof Error ? error : new Error('not an error', { cause: error }))
    throw error
  }
}
