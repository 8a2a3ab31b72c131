import { NAMES_CACHED_MAX } from '../base/limits.ts'
import type { PostgresReads } from './postgres-reads.ts'

/** Row ids of texts that repeat on every record. */
export interface PostgresNames {
  /** Of all these, adding those that are new: in a transaction of its own, so that ids at hand are always there. */
  idsOf(names: Iterable<string>): Promise<ReadonlyMap<string, string>>
  /** The database may be another one than before, such as a replica: ids at hand may not be there. */
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
