import { NEWEST_IDS_MAX, REQUEST_ID_SKEW_MS } from '../base/limits.ts'
import { madeAt } from '../base/request-id.ts'

/**
 * Tells calls that cannot have come before from those that may have, without a look at the books: ids grow, so one above all
 * that its peer sent to this process, and made since it started, is new.
 */
export class NewestIds {
  readonly #startedAt: number
  readonly #byPeer = new Map<string, Uint8Array>()

  /** `epoch`: the boot epoch of this process. */
  constructor(epoch: bigint) {
    this.#startedAt = Number(epoch)
  }

  /** Asked once for each call that comes. */
  isNew(peer: string, requestId: Uint8Array): boolean {
    const newest = this.#byPeer.get(peer)
    const isAbove = newest === undefined || Buffer.compare(requestId, newest) > 0
    if (isAbove) {
      if (newest === undefined && this.#byPeer.size >= NEWEST_IDS_MAX) this.#byPeer.clear()
      // A copy: the frame it came in is not kept for it.
      this.#byPeer.set(peer, Uint8Array.from(requestId))
    }
    return isAbove && newest !== undefined && madeAt(requestId) > this.#startedAt + REQUEST_ID_SKEW_MS
  }
}
