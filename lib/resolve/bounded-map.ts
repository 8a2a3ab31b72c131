import { LRUCache } from 'lru-cache'

/**
 * A map of at most `entriesMax` entries that forgets the one not used for longest. Bounded by size and not by lru-cache's
 * `max`, which lays out memory for all entries at once: tens of milliseconds for a cache that stays nearly empty.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: entriesMax, sizeCalculation: () => 1 })
}
