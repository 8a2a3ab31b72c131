import type { DatabaseSync } from 'node:sqlite'
import { NAMES_CACHED_MAX } from '../base/limits.ts'

/** Row ids of texts that repeat on every record, so that a record and its index entries stay small. */
export interface Names {
  /** Adds it where it is new; within a transaction. */
  idOf(name: string): number
  /** For after a rollback, which may have taken a name back that was new. */
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
    forget: () => ids.clear()
  }
}
