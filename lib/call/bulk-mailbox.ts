import { latin1 } from '../base/bytes.ts'
import { afterLimit, type Clock, type Timer } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { BULK_OPEN_MS, BULK_STREAMS_WAITING_PER_PEER_MAX } from '../base/limits/link.ts'
import { REQUEST_ID_BYTES } from '../base/request-id.ts'
import type { BulkSource, Channel } from '../interface/link.ts'

/** The kind of body that a bulk stream carries: last byte of its tag, after the request id. */
export const BULK_OF = { request: 0, response: 1 } as const

const TAG_BYTES = REQUEST_ID_BYTES + 1

export function bulkTag(requestId: Uint8Array, of: (typeof BULK_OF)[keyof typeof BULK_OF]): Uint8Array {
  const tag = new Uint8Array(TAG_BYTES)
  tag.set(requestId)
  tag[TAG_BYTES - 1] = of
  return tag
}

interface Delivered {
  readonly peer: string
  readonly source: BulkSource
  readonly timer: Timer
}

/** The channel whose frames announce streams. */
type Announcing = Pick<Channel, 'peer'>

interface Wanted {
  readonly channel: Announcing
  claim(source: BulkSource): void
  onMissing(): void
}

/**
 * Matches bulk streams with the frames that announce them, because either may arrive first. Each waits up to
 * `BULK_OPEN_MS` for the other. A peer may have `BULK_STREAMS_WAITING_PER_PEER_MAX` streams waiting.
 */
export class BulkMailbox {
  readonly #clock: Clock
  readonly #delivered = new Map<string, Delivered>()
  readonly #wanted = new Map<string, Wanted>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A stream arrived. */
  deliver(peer: string, tag: Uint8Array, source: BulkSource): void {
    const key = slotKey(peer, tag)
    const wanted = this.#wanted.get(key)
    if (wanted !== undefined) {
      this.#wanted.delete(key)
      return wanted.claim(source)
    }
    // Only the newest stream of a tag is useful: earlier ones belong to attempts whose link broke.
    this.#take(key)?.source.abort(new Error('a newer bulk stream replaced this one'))
    if (tag.length !== TAG_BYTES || this.#waiting(peer) >= BULK_STREAMS_WAITING_PER_PEER_MAX) {
      source.abort(new Error('unexpected bulk stream'))
      return
    }
    const timer = afterLimit(this.#clock, BULK_OPEN_MS, () => {
      this.#delivered.delete(key)
      source.abort(new Error('no frame announced this bulk stream'))
    })
    this.#delivered.set(key, { peer, source, timer })
  }

  /**
   * Waits for the stream that a frame of the channel announced.
   * @throws SoukError `call_interrupted`, or the error of `missing`, when it does not arrive or the channel closes; the
   * signal's reason when it aborts
   */
  async take(
    channel: Announcing,
    tag: Uint8Array,
    signal: AbortSignal | undefined,
    missing = () => new SoukError('call_interrupted', 'The body of the call did not arrive.')
  ): Promise<BulkSource> {
    const key = slotKey(channel.peer, tag)
    const delivered = this.#take(key)
    if (delivered !== undefined) return delivered.source
    const { promise, resolve, reject } = Promise.withResolvers<BulkSource>()
    const giveUp = (reason: unknown) => {
      // A repeat of the call may want the stream since.
      if (this.#wanted.get(key) === wanted) this.#wanted.delete(key)
      reject(reason)
    }
    const onMissing = () => giveUp(missing())
    const onAbort = () => giveUp(signal?.reason)
    const timer = afterLimit(this.#clock, BULK_OPEN_MS, onMissing)
    const wanted: Wanted = { channel, claim: resolve, onMissing }
    this.#wanted.set(key, wanted)
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await promise
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ends the waits for streams that the channel announced: the peer learns that it closed, and opens none. */
  closed(channel: Announcing): void {
    for (const wanted of this.#wanted.values()) if (wanted.channel === channel) wanted.onMissing()
  }

  #take(key: string): Delivered | undefined {
    const delivered = this.#delivered.get(key)
    this.#delivered.delete(key)
    delivered?.timer.cancel()
    return delivered
  }

  #waiting(peer: string): number {
    let count = 0
    for (const delivered of this.#delivered.values()) if (delivered.peer === peer) count++
    return count
  }
}

function slotKey(peer: string, tag: Uint8Array): string {
  return peer + latin1(tag)
}
