import { NAMES_CACHED_MAX } from '../../base/limits/store.ts'
import type { PostgresReads } from './reads.ts'

/** Row ids of texts that repeat in many records. */
export interface PostgresNames {
  /** Returns the ids of all names and adds new ones. Uses a separate transaction, so that cached ids always exist. */
  idsOf(names: Iterable<string>): Promise<ReadonlyMap<string, string>>
  /** Clears the cache, because the database may be another one than before, such as a replica without these ids. */
  forget(): void
}

export function postgresNames(reads: PostgresReads): PostgresNames {
  const cache = new Map<string, string>()
  return {
    async idsOf(names) {
      const wanted = new Set(names)
      const missing = [...wanted].filter((name) => !cache.has(name))
      if (cache.size + missing.length > NAMES_CACHED_MAX) cache.clear()
      const unknown = [...wanted].filter((name) => !cache.has(name))
      if (unknown.length > 0) {
        await reads.query('INSERT INTO names (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING', [unknown])
        const select = 'SELECT id, name FROM names WHERE name = ANY($1::text[])'
        const { rows } = await reads.query<{ id: string; name: string }>(select, [unknown])
        for (const { id, name } of rows) cache.set(name, id)
      }
      return cache
    },
    forget: () => cache.clear()
  }
}
