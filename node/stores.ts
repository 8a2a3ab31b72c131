import { createPostgresStore, createSqliteStore, type SqliteStore } from '../lib/index.ts'
import type { Store } from '../lib/interface/index.ts'
import type { NodeConfig } from './node-config.ts'
import { profileFile } from './profile/profile.ts'
import { SetupError } from './setup-error.ts'

export interface StoresInit {
  readonly config: Pick<NodeConfig, 'profile' | 'store'>
  readonly onFailure: (error: Error) => void
  readonly undo: AsyncDisposableStack
}

/** What a node keeps: on its own disk, and, where several share them, keys, accounts and subscriptions in one database. */
export interface Stores {
  readonly own: SqliteStore
  readonly shared: Store | undefined
}

/** @throws SetupError `start_failed` */
export async function openStores({ config, onFailure, undo }: StoresInit): Promise<Stores> {
  const own = createSqliteStore({ path: profileFile(config.profile, 'store'), onFailure })
  await own.open()
  undo.defer(() => own.close())
  if (config.store === undefined) return { own, shared: undefined }
  const shared = createPostgresStore({ url: config.store, onFailure })
  try {
    await shared.open()
  } catch (cause) {
    // Its address is a secret: it may hold a password.
    throw new SetupError('start_failed', 'The shared store of keys and accounts cannot be opened.', {
      cause,
      hint: 'check --store or SOUK_STORE, and that the database can be reached from here'
    })
  }
  undo.defer(() => shared.close())
  return { own, shared }
}
