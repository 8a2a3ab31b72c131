import { createPostgresStore, createSqliteStore, isSoukError, limits, sleep } from '../lib/index.ts'
import type { ComponentLogger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import type { Clock, Store } from '../lib/interface/index.ts'
import type { Log } from './log.ts'
import type { NodeConfig } from './node-config.ts'
import { profileFile } from './profile/profile.ts'
import { storeFault } from './profile/store-fault.ts'
import { SetupError } from './setup-error.ts'
import { closing } from './parts/closing.ts'

export interface StoresInit {
  readonly config: Pick<NodeConfig, 'profile' | 'store'>
  readonly clock: Clock
  readonly log: Pick<Log, 'info'>
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
  readonly onFailure: (error: Error) => void
  /** Ends the wait for a database that is away. */
  readonly signal: AbortSignal
}

/**
 * What a node keeps: on its own disk, and, where several share them, keys, accounts and subscriptions in one database. Its disposal
 * closes both.
 */
export interface Stores extends AsyncDisposable {
  readonly own: Store
  readonly shared: Store | undefined
}

/** Waits for the shared store where it is away. @throws SetupError `store_failed`, `profile_broken`, `config_invalid`; the signal's reason */
export async function openStores(init: StoresInit): Promise<Stores> {
  const { config, onFailure, logger = defaultLogger() } = init
  await using opened = new AsyncDisposableStack()
  const own = createSqliteStore({ path: profileFile(config.profile, 'store'), onFailure, logger })
  await own.open().catch((error: unknown) => {
    throw storeFault(error, config.profile) ?? error
  })
  opened.defer(() => own.close())
  if (config.store === undefined) return { own, shared: undefined, ...closing(opened.move()) }
  const shared = createPostgresStore({ url: config.store, logger })
  await openShared(shared, init)
  opened.defer(() => shared.close())
  return { own, shared, ...closing(opened.move()) }
}

async function openShared(shared: Store, init: StoresInit): Promise<void> {
  // The clock's timers keep no process running, and nothing else runs yet.
  const running = setInterval(() => {}, limits.STORE_WAIT_SAID_MS)
  try {
    await untilOpen(shared, init)
  } finally {
    clearInterval(running)
  }
}

async function untilOpen(shared: Store, { clock, log, signal }: StoresInit): Promise<void> {
  let saidAt = -Infinity
  for (let pauseMs: number = limits.RECONNECT_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, limits.RECONNECT_MS_MAX)) {
    try {
      return await shared.open()
    } catch (error) {
      if (!isSoukError(error) || error.code !== 'store_unavailable') throw refused(error)
      if (clock.elapsed() - saidAt >= limits.STORE_WAIT_SAID_MS) {
        saidAt = clock.elapsed()
        log.info(`Waiting for the database of --store. ${error.message}`)
      }
    }
    await sleep(clock, pauseMs, signal)
  }
}

/** No wait helps. The address is a secret: it may hold a password. */
function refused(error: unknown): SetupError {
  const why = isSoukError(error) ? ` ${error.message}` : ''
  return new SetupError('config_invalid', `The shared store of keys and accounts cannot be used.${why}`, {
    hint: 'check --store or SOUK_STORE'
  })
}
