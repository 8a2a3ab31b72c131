import type { ComponentLogger, Connection, Libp2pEvents, Logger, Startable } from '@libp2p/interface'
import type { TypedEventTarget } from 'main-event'
import type { Clock, Timer } from '../base/clock.ts'
import { logOf, reasonOf } from '../base/component-log.ts'
import { HEARTBEAT_ANSWER_MS, HEARTBEAT_MS, HEARTBEAT_SPREAD_MS } from '../base/limits/link.ts'
import { fraction, type Random, systemRandom } from '../base/random.ts'
import { muxerOf, pingOrAbort } from './ping-connection.ts'

interface HeartbeatComponents {
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly logger: ComponentLogger
}

interface HeartbeatInit {
  readonly clock: Clock
  /** Default: the system's. */
  readonly random?: Random
}

/**
 * A libp2p service that closes connections whose peer no longer responds. It replaces libp2p's connection monitor, which
 * pings all connections in one turn, from both ends, and opens a stream for each ping.
 *
 * A ping of the peer restarts the timer of its connection. The end that dialled has the shorter timer, so the other end
 * only responds.
 */
export function heartbeat(init: HeartbeatInit): (components: HeartbeatComponents) => Startable {
  return (components) => new Heartbeat(components, init)
}

class Heartbeat implements Startable {
  readonly #events: TypedEventTarget<Libp2pEvents>
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #timers = new Map<Connection, Timer>()
  #stopped = new AbortController()

  constructor({ events, logger }: HeartbeatComponents, { clock, random = systemRandom }: HeartbeatInit) {
    this.#events = events
    this.#clock = clock
    this.#random = random
    this.#log = logOf(logger, 'souk:link')
  }

  start(): void {
    this.#stopped = new AbortController()
    this.#events.addEventListener('connection:open', this.#onOpen)
    this.#events.addEventListener('connection:close', this.#onClose)
  }

  stop(): void {
    this.#stopped.abort()
    this.#events.removeEventListener('connection:open', this.#onOpen)
    this.#events.removeEventListener('connection:close', this.#onClose)
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  readonly #onOpen = ({ detail: connection }: CustomEvent<Connection>) => {
    const muxer = muxerOf(connection)
    const handlePing = muxer?.handlePing?.bind(muxer)
    if (muxer !== undefined && handlePing !== undefined) {
      muxer.handlePing = (header) => {
        if (this.#timers.has(connection)) this.#schedule(connection)
        handlePing(header)
      }
    }
    this.#schedule(connection)
  }

  readonly #onClose = ({ detail }: CustomEvent<Connection>) => {
    this.#timers.get(detail)?.cancel()
    this.#timers.delete(detail)
  }

  /** Connections that opened together are pinged at different times. */
  #schedule(connection: Connection): void {
    this.#timers.get(connection)?.cancel()
    const earlierMs = connection.direction === 'outbound' ? HEARTBEAT_SPREAD_MS : 0
    const delayMs = HEARTBEAT_MS - earlierMs - fraction(this.#random) * HEARTBEAT_SPREAD_MS
    this.#timers.set(
      connection,
      this.#clock.after(delayMs, () => void this.#beat(connection))
    )
  }

  async #beat(connection: Connection): Promise<void> {
    const startedAt = this.#clock.elapsed()
    const { signal } = this.#stopped
    try {
      await pingOrAbort(connection, {
        clock: this.#clock,
        answerMs: HEARTBEAT_ANSWER_MS,
        signal,
        random: this.#random
      })
      connection.rtt = Math.round(this.#clock.elapsed() - startedAt)
    } catch (error) {
      if (signal.aborted) return
      this.#log('%p did not complete a ping: %s', connection.remotePeer, reasonOf(error))
    }
    if (this.#timers.has(connection)) this.#schedule(connection)
  }
}
