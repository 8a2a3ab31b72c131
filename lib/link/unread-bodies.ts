import type { Clock, Timer } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { UNREAD_BODY_BYTES_MANY, UNREAD_BYTES_MANY, UNREAD_BYTES_MAX, UNREAD_CHECK_MS } from '../base/limits/link.ts'

/** The received part of a body that waits for its reader. */
export interface UnreadBody {
  readonly peer: string
  readonly unreadBytes: number
  /** Lets the peer send no more than a new stream's window, until the reader is fast again. */
  narrow(): void
  abort(error: Error): void
}

/**
 * Limits the bytes of bodies that all peers sent and nobody has read. Each stream has a window of its own, so without this limit a host
 * with a few identities could fill the memory.
 */
export class UnreadBodies {
  readonly #clock: Pick<Clock, 'after'>
  readonly #bytesMax: number
  readonly #waiting = new Set<UnreadBody>()
  #timer: Timer | undefined

  /** @param bytesMax - default `UNREAD_BYTES_MAX` */
  constructor(clock: Pick<Clock, 'after'>, bytesMax: number = UNREAD_BYTES_MAX) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  /** Call it when a body holds bytes that its reader did not take at once. It is watched until none are left. */
  watch(body: UnreadBody): void {
    this.#waiting.add(body)
    this.#timer ??= this.#clock.after(UNREAD_CHECK_MS, () => this.#check())
  }

  /** Ends the checks. Bodies that arrive later start them again. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #check(): void {
    this.#timer = undefined
    let bytes = 0
    for (const body of this.#waiting) {
      if (body.unreadBytes === 0) this.#waiting.delete(body)
      else bytes += body.unreadBytes
    }
    if (bytes > UNREAD_BYTES_MANY)
      for (const body of this.#waiting) if (body.unreadBytes > UNREAD_BODY_BYTES_MANY) body.narrow()
    if (bytes > this.#bytesMax) this.#abort(bytes - this.#bytesMax)
    const [next] = this.#waiting
    if (next !== undefined) this.watch(next)
  }

  /** Aborts the largest bodies of the peers that hold most. */
  #abort(tooMuch: number): void {
    const peers = new Map<string, { bytes: number; readonly bodies: UnreadBody[] }>()
    for (const body of this.#waiting) {
      const held = peers.get(body.peer) ?? { bytes: 0, bodies: [] }
      held.bytes += body.unreadBytes
      held.bodies.push(body)
      peers.set(body.peer, held)
    }
    for (const { bodies } of peers.values()) bodies.sort((a, b) => a.unreadBytes - b.unreadBytes)
    for (let left = tooMuch; left > 0; ) {
      let most: { bytes: number; readonly bodies: UnreadBody[] } | undefined
      for (const held of peers.values()) if (most === undefined || held.bytes > most.bytes) most = held
      const body = most?.bodies.pop()
      if (most === undefined || body === undefined) return
      const bytes = body.unreadBytes
      most.bytes -= bytes
      left -= bytes
      this.#waiting.delete(body)
      body.abort(new SoukError('overloaded', 'Too many bytes of bodies wait for their readers.'))
    }
  }
}
