import type { Logger } from '@libp2p/interface'
import { RecentMap } from '../base/bounded-map.ts'
import { type Clock, deadline } from '../base/clock.ts'
import { SILENT_LOG } from '../base/component-log.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import {
  LOOKUPS_MS,
  RESOLUTION_FRESH_MS,
  RESOLUTION_NEGATIVE_MS,
  RESOLUTION_STALE_MS,
  RESOLUTIONS_MAX
} from '../base/limits/directory.ts'
import { within } from '../base/within.ts'
import { isOffline } from './not-found.ts'
import type { ResolveOptions } from '../interface/directory.ts'
import { ignore } from '../base/ignore.ts'

/**
 * Looks up one value. Its signal is separate from the callers' signals, because a caller may leave while others wait.
 * The promise settles soon after an abort, with a partial result or an error.
 */
export type Loader<T> = (signal: AbortSignal) => Promise<T>

/** A cache of lookups, including failed ones. Concurrent lookups of one key share one load. */
export interface OwnerCache<T> {
  /**
   * Returns a fresh value at once. Returns a stale value at once and reloads it in the background. Otherwise loads it,
   * for at most `LOOKUPS_MS`.
   * @throws the error of `load`, cached for `RESOLUTION_NEGATIVE_MS` unless this node is offline; SoukError `lookup_timeout`; the signal's reason
   */
  get(key: string, load: Loader<T>, options: ResolveOptions): Promise<T>
  /** The value if it is cached and fresh. */
  fresh(key: string): T | undefined
  /** A newer value exists: marks the cached value, and one being loaded, as stale. */
  expire(key: string): void
  /** The cached value was wrong: removes it, and does not cache a value being loaded. */
  drop(key: string): void
}

export interface OwnerCacheInit<T> {
  readonly clock: Clock
  readonly bytesMax: number
  /** Memory of a value. */
  readonly bytesOf: (value: T) => number
  /** Default: none. */
  readonly log?: Logger | undefined
}

export function createOwnerCache<T>(init: OwnerCacheInit<T>): OwnerCache<T> {
  return new BoundedOwnerCache(init)
}

type Entry<T> =
  | { readonly value: T; readonly at: number; stale: boolean; retryAt: number }
  | { readonly error: SoukError; readonly at: number }

interface Flight<T> {
  readonly result: Promise<T>
  stale: boolean
}

/** Memory of an error, or of an entry's bookkeeping. */
const ENTRY_BYTES = 512

class BoundedOwnerCache<T> implements OwnerCache<T> {
  readonly #clock: Clock
  readonly #bytesOf: (value: T) => number
  readonly #entries: RecentMap<string, Entry<T>>
  readonly #flights = new Map<string, Flight<T>>()
  readonly #log: Logger

  constructor({ clock, bytesMax, bytesOf, log = SILENT_LOG }: OwnerCacheInit<T>) {
    this.#clock = clock
    this.#bytesOf = bytesOf
    this.#log = log
    // Bounds the number of entries. `max` would allocate memory for all of them.
    const share = Math.ceil(bytesMax / RESOLUTIONS_MAX)
    this.#entries = new RecentMap({
      maxSize: bytesMax,
      sizeCalculation: (entry) => Math.max(share, ENTRY_BYTES + ('value' in entry ? this.#bytesOf(entry.value) : 0))
    })
  }

  fresh(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || 'error' in entry || entry.stale) return undefined
    return this.#clock.elapsed() - entry.at < RESOLUTION_FRESH_MS ? entry.value : undefined
  }

  async get(key: string, load: Loader<T>, { signal, refresh = false }: ResolveOptions): Promise<T> {
    signal.throwIfAborted()
    const entry = refresh ? undefined : this.#entries.get(key)
    if (entry !== undefined) {
      const now = this.#clock.elapsed()
      const age = now - entry.at
      if ('error' in entry) {
        if (age < RESOLUTION_NEGATIVE_MS) {
          this.#log.trace('%s: cached failure %s, %d ms old', key, entry.error.code, Math.round(age))
          throw entry.error
        }
      } else if (age < RESOLUTION_FRESH_MS && !entry.stale) {
        this.#log.trace('%s: cached, %d ms old', key, Math.round(age))
        return entry.value
      } else if (age < RESOLUTION_STALE_MS) {
        this.#log.trace('%s: cached and stale, %d ms old', key, Math.round(age))
        if (now >= entry.retryAt) void this.#fly(key, load).catch(ignore)
        return entry.value
      }
    }
    return within(this.#fly(key, load), signal)
  }

  expire(key: string): void {
    const entry = this.#entries.peek(key)
    if (entry !== undefined && 'value' in entry) entry.stale = true
    const flight = this.#flights.get(key)
    if (flight !== undefined) flight.stale = true
  }

  drop(key: string): void {
    this.#entries.delete(key)
    this.#flights.delete(key)
  }

  #fly(key: string, load: Loader<T>): Promise<T> {
    const running = this.#flights.get(key)
    if (running !== undefined) {
      this.#log.trace('%s: waits for the lookup under way', key)
      return running.result
    }
    const flight: Flight<T> = { result: this.#load(load), stale: false }
    this.#flights.set(key, flight)
    // After a `drop`, waiting callers still get the value, but it is not cached.
    const lands = () => this.#flights.get(key) === flight && this.#flights.delete(key)
    flight.result.then(
      (value) => {
        if (lands()) this.#keep(key, value, flight.stale)
      },
      (error: unknown) => {
        if (lands()) this.#keepError(key, asSoukError(error))
      }
    )
    return flight.result
  }

  async #load(load: Loader<T>): Promise<T> {
    const limit = deadline(this.#clock, LOOKUPS_MS, () => new SoukError('lookup_timeout'))
    try {
      return await load(limit.signal)
    } finally {
      limit.clear()
    }
  }

  #keep(key: string, value: T, stale: boolean): void {
    this.#entries.set(key, { value, at: this.#clock.elapsed(), stale, retryAt: 0 })
  }

  /** A failed reload keeps the usable value, and delays the next attempt. */
  #keepError(key: string, error: SoukError): void {
    const now = this.#clock.elapsed()
    const entry = this.#entries.peek(key)
    if (entry !== undefined && 'value' in entry && now - entry.at < RESOLUTION_STALE_MS) {
      entry.retryAt = now + RESOLUTION_NEGATIVE_MS
    } else if (!isOffline(error)) {
      this.#entries.set(key, { error, at: now })
    }
  }
}
