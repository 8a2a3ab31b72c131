import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { BULK_OPEN_MS, BULK_STREAMS_PER_PEER_MAX } from '../base/limits.ts'
import type { BulkSource } from '../interface/link.ts'

/** Whose body a bulk stream carries; the byte behind the request id in its tag. */
export const BULK_OF = { request: 0, response: 1 } as const

const TAG_BYTES = 17

export function bulkTag(requestId: Uint8Array, of: (typeof BULK_OF)[keyof typeof BULK_OF]): Uint8Array {
  const tag = new Uint8Array(TAG_BYTES)
  tag.set(requestId)
  tag[TAG_BYTES - 1] = of
  return tag
}

interface Slot {
  readonly peer: string
  source?: BulkSource
  claim?: (source: BulkSource) => void
}

/**
 * Where bulk streams and the frames that speak of them meet: nothing orders the one before the other. Each waits for its
 * counterpart for `BULK_OPEN_MS`; a peer may have `BULK_STREAMS_PER_PEER_MAX` streams waiting.
 */
export class BulkMailbox {
  readonly #clock: Clock
  readonly #slots = new Map<string, Slot>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A stream arrived. */
  deliver(peer: string, tag: Uint8Array, source: BulkSource): void {
    const key = slotKey(peer, tag)
    const slot = this.#slots.get(key)
    if (slot?.claim !== undefined) {
      this.#slots.delete(key)
      slot.claim(source)
    } else if (tag.length !== TAG_BYTES || slot !== undefined || this.#waiting(peer) >= BULK_STREAMS_PER_PEER_MAX) {
      source.abort(new Error('an unexpected bulk stream'))
    } else {
      const waiting: Slot = { peer, source }
      this.#slots.set(key, waiting)
      this.#clock.after(BULK_OPEN_MS, () => {
        if (this.#slots.get(key) !== waiting) return
        this.#slots.delete(key)
        source.abort(new Error('nobody asked for this bulk stream'))
      })
    }
  }

  /** A frame announced a stream. @throws SoukError `call_interrupted` when it does not come. */
  async take(peer: string, tag: Uint8Array): Promise<BulkSource> {
    const key = slotKey(peer, tag)
    const slot = this.#slots.get(key)
    if (slot?.source !== undefined) {
      this.#slots.delete(key)
      return slot.source
    }
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(BULK_OPEN_MS, () => {
        this.#slots.delete(key)
        reject(new SoukError('call_interrupted', 'The body of the call did not arrive.'))
      })
      this.#slots.set(key, {
        peer,
        claim: (source) => {
          timer.cancel()
          resolve(source)
        }
      })
    })
  }

  #waiting(peer: string): number {
    let count = 0
    for (const slot of this.#slots.values()) if (slot.peer === peer && slot.source !== undefined) count++
    return count
  }
}

function slotKey(peer: string, tag: Uint8Array): string {
  return peer + Buffer.from(tag).toString('latin1')
}
