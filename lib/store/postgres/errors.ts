import { isSoukError, SoukError } from '../../base/errors.ts'
import { STORE_RETRY_MS } from '../../base/limits/store.ts'
import { rejectionOf } from './rejection.ts'
import { sqlStateOf } from './sql-state.ts'

/** The transaction cannot be written as a whole, but each of its writes can alone. */
export class MustBeAlone extends Error {}

/** Another process declared this one dead, so the token of its transactions is no longer valid. */
export class Fenced extends Error {}

/** The connection ended. Only the database knows whether its last transaction is written. */
export class ConnectionLost extends Error {
  constructor(options?: ErrorOptions) {
    super('Connection terminated', options)
  }
}

const DENIED = '42501'
const LOCKED = '55P03'
/**
 * Classes of https://www.postgresql.org/docs/current/errcodes-appendix.html: errors of connection, resources, shutdown, system and internals; a read-only server, such as a standby or a former primary; a
 * query or transaction that an administrator or a time limit ended; a permission that is missing, until the administrator grants
 * it again; a table that is locked for longer than a time limit.
 */
const AWAY = new RegExp(`^(?:08(?!P01)|53|57|58|XX|25006|25P0[34]|${DENIED}|${LOCKED})`)
/** A transaction that lost a race with another and can be retried unchanged. */
const LOST_RACE = /^40(?:001|P01)/

/** Errors of the network and of `pg`. The server's errors have an SQLSTATE instead. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN'
])
const WORDS =
  /^(?:Connection terminated|timeout exceeded|timeout expired|Query read timeout|Client has encountered|Client was closed|Cannot use a pool)/

/** A Unix socket without a running server. */
function isSocketGone(error: Error): boolean {
  return 'code' in error && error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect'
}

/** True if the server is temporarily unavailable, through no fault of the query. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlStateOf(error)
  if (state !== undefined) return AWAY.test(state)
  if (error instanceof AggregateError) return error.errors.some(isAway)
  if ('code' in error && (NETWORK.has(String(error.code)) || isSocketGone(error))) return true
  return WORDS.test(error.message)
}

/** True if the user lacks a permission. */
export function isDenied(error: unknown): boolean {
  return sqlStateOf(error) === DENIED
}

/** True if the error ends the use of the connection. */
export function isLost(error: unknown): boolean {
  if (error instanceof Fenced || error instanceof ConnectionLost) return true
  return isAway(error) || (isSoukError(error) && error.code === 'store_unavailable')
}

/** True if the server rejected the statement: nothing is written, and the connection is still usable. */
export function isRefusal(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && !AWAY.test(state)
}

/** True if two transactions conflicted and this one was rolled back, through no fault of its writes. */
export function isLostRace(error: unknown): boolean {
  return LOST_RACE.test(sqlStateOf(error) ?? '')
}

/** The reason why the server is unavailable, without host, user or password. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^(?:ECONNREFUSED|ENOENT)$/.test(code)) return 'it refuses connections'
  if (/^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return 'its host name is not found'
  if (/^57P0[13]/.test(code)) return 'it is starting or stopping'
  if (code === '25006') return 'it is read-only'
  if (code === DENIED) return 'it denies a permission'
  if (code === LOCKED) return 'a table is locked'
  if (/^(?:57014|25P0[34])$/.test(code)) return 'it ends statements that take too long'
  if (code.startsWith('53300')) return 'it has no free connections'
  if (code.startsWith('53100')) return 'its disk is full'
  return rejectionOf(error) ?? 'the connection is lost'
}

/** The error of every operation that needs the database while it is away. */
export function storeUnavailable(cause: unknown): SoukError {
  if (isSoukError(cause) && cause.code === 'store_unavailable') return cause
  const detail = `The database cannot be used: ${reasonOf(cause)}. This node reconnects automatically.`
  return new SoukError('store_unavailable', detail, { cause, retryAfterMs: STORE_RETRY_MS })
}

/** The error of opening a database that waiting does not make usable. */
export function databaseRejected(cause: unknown): SoukError {
  const state = sqlStateOf(cause)
  const reason = rejectionOf(cause) ?? (state === undefined ? 'the connection fails' : `it reports the error ${state}`)
  return new SoukError('internal_error', `The database cannot be used: ${reason}.`, { cause })
}
