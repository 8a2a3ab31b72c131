import type { Clock, Timer } from '../base/clock.ts'
import { ACK_BATCH_MAX, ACK_DELAY_MS } from '../base/limits.ts'

/** Tells the owner, a batch at a time, which answers need not be kept for a repeat any more. */
export class Acknowledgements {
  readonly #clock: Clock
  readonly #send: (requestIds: Uint8Array[]) => void
  #waiting: Uint8Array[] = []
  #timer: Timer | undefined

  constructor(clock: Clock, send: (requestIds: Uint8Array[]) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(requestId: Uint8Array): void {
    this.#waiting.push(requestId)
    if (this.#waiting.length >= ACK_BATCH_MAX) this.#flush()
    else this.#timer ??= this.#clock.after(ACK_DELAY_MS, () => this.#flush())
  }

  /** Unsent ones are let go: the owner drops those answers by their age. */
  stop(): void {
    this.#timer?.cancel()
    this.#waiting = []
  }

  #flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const requestIds = this.#waiting
    this.#waiting = []
    if (requestIds.length > 0) this.#send(requestIds)
  }
}
