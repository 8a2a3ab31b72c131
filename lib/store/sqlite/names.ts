import type { DatabaseSync } from 'node:sqlite'
import { NAMES_CACHED_MAX } from '../../base/limits/store.ts'

/** Row ids of texts that repeat in many records, so that records and index entries stay small. */
export interface Names {
  /** Returns the id and adds the name if it is new. Only within a transaction. */
  idOf(name: string): number
  /** Returns the id if the name is known. */
  find(name: string): number | undefined
  /** Clears the cache after a rollback, which may have removed a new name. */
  forget(): void
}

export function sqliteNames(db: DatabaseSync): Names {
  const insert = db.prepare('INSERT INTO names (name) VALUES (?) ON CONFLICT (name) DO NOTHING')
  const select = db.prepare('SELECT id FROM names WHERE name = ?')
  const ids = new Map<string, number>()
  return {
    idOf(name) {
      const cached = ids.get(name)
      if (cached !== undefined) return cached
      insert.run(name)
      const id = Number(select.get(name)?.['id'])
      if (ids.size >= NAMES_CACHED_MAX) ids.clear()
      ids.set(name, id)
      return id
    },
    find(name) {
      const id = ids.get(name) ?? select.get(name)?.['id']
      return id === undefined ? undefined : Number(id)
    },
    forget: () => ids.clear()
  }
}
