import { encodeUint8Array, encodingLength } from 'uint8-varint'
import type { Clock } from '../base/clock.ts'
import { BATCH_BYTES_MAX, BATCH_CALLS_MIN, BATCH_FRAMES_MIN, BATCH_TURNS_MAX } from '../base/limits/link.ts'

/** The stream below. `send` returns false until its next `drain`. */
export interface FrameSink {
  send(bytes: Uint8Array): boolean
}

/**
 * Sends all frames of one event-loop turn together, so that encryption, muxing and the system call happen once. A
 * microtask turn would be too short, because each ingress socket has its own. The frame of a single call is sent at once.
 * The frames of many calls wait up to `BATCH_TURNS_MAX` turns for others: a message takes much more CPU time than a
 * frame. While the sink is full, frames wait here and are counted.
 */
export class FrameWriter {
  readonly #sink: FrameSink
  readonly #clock: Pick<Clock, 'soon'>
  readonly #onError: (error: Error) => void
  #frames: Uint8Array[] = []
  #bytes = 0
  #acceptedBytes = 0
  #flushIsDue = false
  #turnsLeft = 0
  #sinkIsFull = false

  constructor(sink: FrameSink, clock: Pick<Clock, 'soon'>, onError: (error: Error) => void) {
    this.#sink = sink
    this.#clock = clock
    this.#onError = onError
  }

  get queuedBytes(): number {
    return this.#bytes
  }

  /** Bytes of all frames so far, with those that are queued. */
  get acceptedBytes(): number {
    return this.#acceptedBytes
  }

  /** @param running - as in `Channel.send` */
  write(frame: Uint8Array, running = 2): void {
    this.#frames.push(frame)
    const bytes = frame.length + encodingLength(frame.length)
    this.#bytes += bytes
    this.#acceptedBytes += bytes
    if (this.#sinkIsFull) return
    if (running === 1 || this.#bytes >= BATCH_BYTES_MAX) {
      this.flush()
    } else if (!this.#flushIsDue) {
      this.#flushIsDue = true
      this.#turnsLeft = running < BATCH_CALLS_MIN ? 1 : BATCH_TURNS_MAX
      this.#clock.soon(this.#onTurnEnd)
    }
  }

  /** The sink accepts data again. */
  drained(): void {
    this.#sinkIsFull = false
    this.flush()
  }

  flush(): void {
    if (this.#bytes === 0 || this.#sinkIsFull) return
    const batch = Buffer.allocUnsafe(this.#bytes)
    let at = 0
    for (const frame of this.#frames) {
      encodeUint8Array(frame.length, batch, at)
      at += encodingLength(frame.length)
      batch.set(frame, at)
      at += frame.length
    }
    this.#frames = []
    this.#bytes = 0
    try {
      this.#sinkIsFull = !this.#sink.send(batch)
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error('send failed', { cause: error }))
    }
  }

  readonly #onTurnEnd = () => {
    if (--this.#turnsLeft > 0 && this.#frames.length < BATCH_FRAMES_MIN) {
      this.#clock.soon(this.#onTurnEnd)
      return
    }
    this.#flushIsDue = false
    this.flush()
  }
}
