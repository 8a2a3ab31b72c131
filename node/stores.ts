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
  /** Aborts waiting for an unreachable database. */
  readonly signal: AbortSignal
}

/**
 * The stores of a node: its own on disk and, if several nodes share one, a database with keys, accounts and subscriptions. Disposal closes
 * both.
 */
export interface Stores extends AsyncDisposable {
  readonly own: Store
  readonly shared: Store | undefined
}

/** Waits while the shared store is unreachable. @throws SetupError `store_failed`, `profile_broken`, `config_invalid`; the signal’s reason */
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
  // Keep the process alive: the clock’s timers do not, and no other part runs yet.
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

/** Retrying does not help. The error omits the address, which may contain a password. */
function refused(error: unknown): SetupError {
  const why = isSoukError(error) ? ` ${error.message}` : ''
  return new SetupError('config_invalid', `The shared store of keys and accounts cannot be used.${why}`, {
    hint: 'check --store or SOUK_STORE'
  })
}
