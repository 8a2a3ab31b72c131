import { isDeepStrictEqual } from 'node:util'
import { formatUsdc } from '../../lib/index.ts'
import type { Listing } from '../../lib/interface/index.ts'
import type { Events } from './events.ts'

/** Publishes events about the APIs of this node. */
export class ListingEvents {
  readonly #events: Pick<Events, 'emit'> | undefined

  constructor(events: Pick<Events, 'emit'> | undefined) {
    this.#events = events
  }

  /**
   * The API was registered, updated, or changed its state. A repeated command that changes nothing has no event.
   * @param before - absent for a new API
   */
  async changed({ signed, state }: Listing, before?: Listing): Promise<void> {
    const { id: api, manifest } = signed
    const { price, revision, deprecation } = manifest
    const last = before?.signed.manifest
    const isMoved = state !== before?.state
    if (state === 'paused' && isMoved) await this.#events?.emit('listing.paused', { api })
    if (state === 'retired' && isMoved) await this.#events?.emit('listing.retired', { api })
    const isNewNotice = isMoved || !isDeepStrictEqual(deprecation, last?.deprecation)
    if (state === 'deprecated' && deprecation !== undefined && isNewNotice) {
      const { sunsetAt, successor = null, link = null } = deprecation
      await this.#events?.emit('listing.deprecated', {
        api,
        sunset_at: new Date(sunsetAt).toISOString(),
        successor,
        link
      })
    }
    if (state === 'published' && (isMoved || revision !== last?.revision)) {
      await this.#events?.emit('listing.published', { api, price: formatUsdc(price), revision })
    }
  }

  async removed(api: string): Promise<void> {
    await this.#events?.emit('listing.removed', { api })
  }

  /** @param why - why the API is unhealthy; absent if it is healthy again */
  async health(api: string, why?: string): Promise<void> {
    if (why === undefined) await this.#events?.emit('listing.well', { api })
    else await this.#events?.emit('listing.unwell', { api, why })
  }
}
