import { encodeUint8Array, encodingLength } from 'uint8-varint'
import type { Clock } from '../base/clock.ts'
import { BATCH_BYTES_MAX } from '../base/limits/link.ts'

/** The stream below. `send` returns false until its next `drain`. */
export interface FrameSink {
  send(bytes: Uint8Array): boolean
}

/**
 * Sends all frames of one event-loop turn together, so that encryption, muxing and the system call happen once. A
 * microtask turn would be too short, because each ingress socket has its own. A single frame is sent after the pending
 * I/O events. While the sink is full, frames wait here and are counted.
 */
export class FrameWriter {
  readonly #sink: FrameSink
  readonly #clock: Pick<Clock, 'soon'>
  readonly #onError: (error: Error) => void
  #frames: Uint8Array[] = []
  #bytes = 0
  #flushIsDue = false
  #sinkIsFull = false

  constructor(sink: FrameSink, clock: Pick<Clock, 'soon'>, onError: (error: Error) => void) {
    this.#sink = sink
    this.#clock = clock
    this.#onError = onError
  }

  get queuedBytes(): number {
    return this.#bytes
  }

  write(frame: Uint8Array): void {
    this.#frames.push(frame)
    this.#bytes += frame.length + encodingLength(frame.length)
    if (this.#sinkIsFull) return
    if (this.#bytes >= BATCH_BYTES_MAX) {
      this.flush()
    } else if (!this.#flushIsDue) {
      this.#flushIsDue = true
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
    this.#flushIsDue = false
    this.flush()
  }
}
