import { LRUCache } from 'lru-cache'

/**
 * A map of at most `entriesMax` entries that evicts the least recently used one. It uses lru-cache's `maxSize`, because
 * `max` allocates memory for all entries at once, which takes tens of milliseconds.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: entriesMax, sizeCalculation: () => 1 })
}
