import { Uint8ArrayList } from 'uint8arraylist'
import type { Clock } from '../base/clock.ts'
import { FRAMES_PER_TURN_MAX, FRAMES_PER_TURN_SHARE, FRAMES_TURN_MS, OPENING_FRAME_COUNT } from '../base/limits/link.ts'
import { BoundedReading } from './bounded-reading.ts'
import type { Pausable } from './resume-reading.ts'

/** The parts of yamux that this file uses. */
interface Framed {
  onData(data: Uint8ArrayList): void
  abort(error: Error): void
  readonly decoder: { readFrame(): CountedFrame | undefined }
}

/** The parts of a frame that tell what it costs. */
export interface CountedFrame {
  readonly header: { readonly flag: number; readonly streamID: number }
}

const SYN = 1

/**
 * Limits the time for which a node handles frames in one turn of the event loop, for all its connections together. Node.js reads up to
 * 2 MiB of a socket in one turn, and yamux handles each frame of it: 170,000 frames that open and reset a stream take 20 s. The number of
 * frames is limited too: a peer that floods would have the whole time of each turn, and most work for a new stream follows in promises and
 * timers.
 */
export class FrameTurns {
  readonly #clock: Pick<Clock, 'elapsed' | 'soon'>
  #began: number | undefined
  #turn = 0
  /** Frames that were handled in this turn. */
  #handled = 0
  /** Connections with frames for a later turn. The first one waits longest. */
  #waiting: (() => void)[] = []
  /** Made once, not for each turn. */
  readonly #next = (): void => {
    this.#began = undefined
    this.#turn++
    this.#handled = 0
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    let at = 0
    while (at < waiting.length && !this.#isOver()) waiting[at++]?.()
    this.#waiting.unshift(...waiting.slice(at))
  }

  constructor(clock: Pick<Clock, 'elapsed' | 'soon'>) {
    this.#clock = clock
  }

  /** The connection reads nothing while its frames wait, so that the peer waits too. */
  limit(muxer: Framed, connection: Pausable): void {
    const { decoder } = muxer
    const readFrame = decoder.readFrame.bind(decoder)
    let isWaiting = false
    const reading = new BoundedReading(connection, () => isWaiting)
    let turn = 0
    let handled = 0
    const hasSentMany = () =>
      turn === this.#turn && handled >= FRAMES_PER_TURN_SHARE && this.#handled >= FRAMES_PER_TURN_MAX
    const count = (frame: CountedFrame | undefined) => {
      if (frame === undefined) return undefined
      const { flag, streamID } = frame.header
      // A ping has the same flag, and is of no stream.
      const frames = (flag & SYN) === 0 || streamID === 0 ? 1 : OPENING_FRAME_COUNT
      handled = turn === this.#turn ? handled + frames : frames
      turn = this.#turn
      this.#handled += frames
      return frame
    }
    const proceed = () => {
      isWaiting = false
      if (connection.status !== 'open') return
      try {
        muxer.onData(new Uint8ArrayList())
      } catch (error) {
        muxer.abort(error as Error)
        connection.abort(error as Error)
      }
      if (!isWaiting) reading.resume()
    }
    decoder.readFrame = () => {
      if (!isWaiting && !this.#isOver() && !hasSentMany()) return count(readFrame())
      if (!isWaiting) this.#waiting.push(proceed)
      isWaiting = true
      reading.pauseIfEnough()
      return undefined
    }
  }

  #isOver(): boolean {
    const now = this.#clock.elapsed()
    if (this.#began === undefined) {
      this.#began = now
      this.#clock.soon(this.#next)
    }
    return now - this.#began > FRAMES_TURN_MS
  }
}
