import { encodeUint8Array, encodingLength } from 'uint8-varint'
import type { Clock } from '../base/clock.ts'
import { BATCH_BYTES_MAX } from '../base/limits.ts'

/** The stream below: `send` says whether it wants more before its next `drain`. */
export interface FrameSink {
  send(bytes: Uint8Array): boolean
}

/**
 * Frames of one turn of the event loop leave as one send: encryption, muxing and the system call are then paid once for all
 * of them. Not of one microtask turn: calls that come on sockets of their own, as at an ingress, each have their own. A lone
 * frame leaves as soon as the I/O events that are waiting were seen to. When the sink is full, frames wait here and are counted.
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

  /** The sink has room again. */
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
