import { LRUCache } from 'lru-cache'

/** Options for all calls of `get` and `set`. lru-cache would make an object for each call, only to write a `status` into it. */
const NO_OPTIONS = {}

/** An lru-cache whose `get` and `set` take no options, and so no memory. */
export class RecentMap<K extends {}, V extends {}> extends LRUCache<K, V> {
  override get(key: K): V | undefined {
    return super.get(key, NO_OPTIONS)
  }

  override set(key: K, value: V): this {
    return super.set(key, value, NO_OPTIONS)
  }
}

/**
 * A map of at most `entriesMax` entries that evicts the least recently used one. It uses lru-cache's `maxSize`, because
 * `max` allocates memory for all entries at once: 0.2 MB for 10,000.
 */
export function boundedMap<K extends {}, V extends {}>(
  entriesMax: number,
  expiry: Pick<LRUCache.OptionsBase<K, V, unknown>, 'ttl' | 'perf'> = {}
): RecentMap<K, V> {
  return new RecentMap<K, V>({ ...expiry, maxSize: entriesMax, sizeCalculation: () => 1 })
}
