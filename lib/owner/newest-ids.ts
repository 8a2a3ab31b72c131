import { NEWEST_IDS_MAX, REQUEST_ID_SKEW_MS } from '../base/limits/call.ts'
import { madeAt } from '../base/request-id.ts'

/**
 * Detects new calls without reading the books. Request ids increase. An id is new if it is above all ids that its peer
 * sent to this process, and was created after the process started.
 */
export class NewestIds {
  readonly #startedAt: number
  readonly #byPeer = new Map<string, Uint8Array>()

  /** `epoch`: the boot epoch of this process. */
  constructor(epoch: bigint) {
    this.#startedAt = Number(epoch)
  }

  /** Call it once for each incoming call. */
  isNew(peer: string, requestId: Uint8Array): boolean {
    const newest = this.#byPeer.get(peer)
    const isAbove = newest === undefined || Buffer.compare(requestId, newest) > 0
    if (isAbove) {
      if (newest === undefined && this.#byPeer.size >= NEWEST_IDS_MAX) this.#byPeer.clear()
      // A copy, so that the whole frame is not kept in memory.
      if (newest === undefined) this.#byPeer.set(peer, new Uint8Array(requestId))
      else newest.set(requestId)
    }
    return isAbove && newest !== undefined && madeAt(requestId) > this.#startedAt + REQUEST_ID_SKEW_MS
  }
}
