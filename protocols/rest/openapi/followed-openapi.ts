import type { Clock } from '../../../lib/base/clock.ts'
import { isSoukError } from '../../../lib/base/errors.ts'
import { DESCRIPTION_REST_MS } from '../../../lib/base/limits/descriptions.ts'
import { OPENAPI_FRESH_MS } from '../../../lib/base/limits/rest.ts'
import { within } from '../../../lib/base/within.ts'
import type { JsonObject } from '../../exact-json.ts'
import { type MappedCall, OpenapiCalls } from './openapi-call.ts'
import { readSnapshot } from '../snapshot.ts'

export interface FollowedOpenapiInit {
  readonly snapshot: string
  readonly clock: Clock
  /** Reads the document again and returns its snapshot. Absent if the document has no address. */
  readonly read?: () => Promise<string>
}

/** The operations of an imported document. Before a call is rejected that does not match, the document is read again. */
export class FollowedOpenapi {
  readonly #init: FollowedOpenapiInit
  #snapshot: string
  #calls: OpenapiCalls | undefined
  #readAt: number
  #reading: Promise<boolean> | undefined
  onChange: ((snapshot: string) => void) | undefined

  constructor(init: FollowedOpenapiInit, calls: OpenapiCalls | undefined) {
    this.#init = init
    this.#snapshot = init.snapshot
    this.#calls = calls
    // A document that was just imported is fresh.
    this.#readAt = init.clock.elapsed()
  }

  get isKnown(): boolean {
    return this.#calls !== undefined
  }

  /** The same as `OpenapiCalls.warnings`. */
  get warnings(): readonly string[] {
    return this.#calls?.warnings ?? []
  }

  /** @throws SoukError `invalid_request`, `operation_not_found` */
  async map(call: JsonObject, signal: AbortSignal): Promise<MappedCall | undefined> {
    try {
      return await this.#calls?.map(call, signal)
    } catch (error) {
      const isNoFit = isSoukError(error) && (error.code === 'invalid_request' || error.code === 'operation_not_found')
      if (!isNoFit || this.#init.clock.elapsed() - this.#readAt < OPENAPI_FRESH_MS) throw error
      if (!(await within(this.refresh(), signal))) throw error
      return this.#calls?.map(call, signal)
    }
  }

  /**
   * Reads the document again; returns true if it has changed. Concurrent callers share one read. Never rejects: after an error,
   * the known document stays.
   */
  refresh(): Promise<boolean> {
    const { read } = this.#init
    if (read === undefined || this.#calls === undefined) return Promise.resolve(false)
    this.#reading ??= this.#read(read).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(read: () => Promise<string>): Promise<boolean> {
    let isTooComplex = false
    try {
      const fresh = await read()
      if (fresh === this.#snapshot) return false
      const snapshot = readSnapshot(fresh)
      if (snapshot === undefined) return false
      this.#calls = new OpenapiCalls(snapshot.api)
      this.#snapshot = fresh
      this.onChange?.(fresh)
      return true
    } catch (error) {
      // The address may be down or serve an invalid document. The known document stays.
      isTooComplex = isSoukError(error) && error.code === 'description_too_complex'
      return false
    } finally {
      this.#readAt = this.#init.clock.elapsed() + (isTooComplex ? DESCRIPTION_REST_MS : 0)
    }
  }
}
