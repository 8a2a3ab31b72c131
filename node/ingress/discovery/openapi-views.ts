import { LRUCache } from 'lru-cache'
import { deadline, isSoukError, limits, SingleFlight, Slots, SoukError } from '../../../lib/index.ts'
import type { Clock, Resolution, Souk } from '../../../lib/interface/index.ts'
import { openapiOf } from './openapi.ts'

/** In place of a document that was refused. */
const TOO_LARGE = ''
/** Characters of a cache entry besides its document. */
const ENTRY_CHARS = 500

export interface OpenapiViewsInit {
  readonly souk: Pick<Souk, 'descriptions'>
  readonly clock: Clock
  /** Calls without a key can pay. Default false. */
  readonly isKeyless?: boolean
}

/** OpenAPI documents of large descriptions, which take up to a second to make, are kept. */
export class OpenapiViews {
  readonly #init: OpenapiViewsInit
  readonly #kept = new LRUCache<string, string>({
    maxSize: limits.OPENAPI_VIEWS_BYTES_MAX,
    sizeCalculation: ({ length }) => length + ENTRY_CHARS
  })
  /** Requests for the same document share the work. */
  readonly #making = new SingleFlight<string, string>()
  readonly #slots = new Slots(limits.OPENAPI_VIEWS_MADE_AT_ONCE)

  constructor(init: OpenapiViewsInit) {
    this.#init = init
  }

  /** @throws SoukError `response_too_large`, and errors of `Descriptions` */
  async of(api: Resolution, signal: AbortSignal): Promise<string> {
    const { signed } = api
    const { described } = signed.manifest.api
    if (described === undefined) return this.#make(api, signal)
    const key = `${signed.id} ${signed.manifest.revision} ${described.root}`
    const kept = this.#kept.get(key)
    if (kept === TOO_LARGE) throw tooLarge()
    if (kept !== undefined) return kept
    // A client that disconnects does not stop it for the others.
    try {
      const document = await this.#making.run(key, () => this.#makeInTurn(api))
      this.#kept.set(key, document)
      return document
    } catch (error) {
      // Making it again would take as long.
      if (isSoukError(error) && error.code === 'response_too_large') this.#kept.set(key, TOO_LARGE)
      throw error
    }
  }

  /** A large description and its document take some 100 MB while it is made. */
  async #makeInTurn(api: Resolution): Promise<string> {
    const limit = deadline(this.#init.clock, limits.LOOKUP_MS, () => new SoukError('lookup_timeout'))
    try {
      const leave = await this.#slots.enter(limit.signal)
      return await this.#make(api, limit.signal).finally(leave)
    } finally {
      limit.clear()
    }
  }

  async #make(api: Resolution, signal: AbortSignal): Promise<string> {
    const { souk, clock, isKeyless } = this.#init
    const description = await souk.descriptions.whole(api, signal, limits.OPENAPI_VIEW_BYTES_MAX)
    // A relative URL: this host may have another name outside.
    const document = JSON.stringify(await openapiOf(api.signed, description, { baseUrl: '/', clock, isKeyless }))
    if (document.length <= limits.OPENAPI_VIEW_BYTES_MAX) return document
    throw tooLarge()
  }
}

function tooLarge(): SoukError {
  return new SoukError(
    'response_too_large',
    'This API is too large for one document. Read /v1/apis/{id}/operations instead.'
  )
}
