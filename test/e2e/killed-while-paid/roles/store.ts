import { createPostgresStore, createSqliteStore } from '../../../../lib/index.ts'
import type { Store } from '../../../../lib/interface/store.ts'

/** Opens an SQLite file, or a PostgreSQL database by its URL. */
export function storeAt(place: string, onFailure: () => void = () => {}): Store {
  return place.startsWith('postgres:')
    ? createPostgresStore({ url: place })
    : createSqliteStore({ path: place, onFailure })
}
