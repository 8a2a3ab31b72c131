import { type Pausable, resumeReading } from './resume-reading.ts'

/** Pauses a stream or connection while its receiver has enough. Messages that are under way still arrive. */
export class BoundedReading {
  readonly #stream: Pausable
  readonly #hasEnough: () => boolean
  #isResuming = false

  constructor(stream: Pausable, hasEnough: () => boolean) {
    this.#stream = stream
    this.#hasEnough = hasEnough
  }

  /** Call it after data has arrived. */
  pauseIfEnough(): void {
    if (!this.#isResuming && this.#stream.readStatus === 'readable' && this.#hasEnough()) this.#stream.pause()
  }

  /** Delivers what arrived during the pause, and reads on unless the receiver has enough of it. */
  resume(): void {
    if (this.#stream.readStatus !== 'paused') return
    // libp2p delivers before it tells the sender to continue. A pause in between would stop this end only, and its buffer would overflow.
    this.#isResuming = true
    resumeReading(this.#stream)
    this.#isResuming = false
    this.pauseIfEnough()
  }
}
