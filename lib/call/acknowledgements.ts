import type { Clock, Timer } from '../base/clock.ts'
import { ACK_BATCH_MAX, ACK_DELAY_MS } from '../base/limits/call.ts'

/** Tells the owner in batches which stored responses it may delete. */
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

  /** Drops unsent acknowledgements. The owner deletes those responses by age. */
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
