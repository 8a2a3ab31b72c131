import { isSoukError, SoukError } from '../base/errors.ts'
import { STORE_RETRY_MS } from '../base/limits.ts'

/** The transaction as a whole cannot be written, each of its writes by itself can. */
export class MustBeAlone extends Error {}

/** Another process took this one for dead: the token that its transactions carry is no longer valid. */
export class Fenced extends Error {}

/** The connection ended; whether its last transaction is written, the database knows. */
export class ConnectionLost extends Error {
  constructor(options?: ErrorOptions) {
    super('Connection terminated', options)
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function sqlStateOf(error: unknown): string | undefined {
  const isFromServer = error instanceof Error && 'severity' in error && 'code' in error
  return isFromServer && typeof error.code === 'string' ? error.code : undefined
}

/**
 * Connection, resources, shutdown, system and internal errors, a server that only reads (a standby, or one that lost its place as the
 * primary), a query or transaction that an administrator or a time limit ended.
 */
const AWAY = /^(?:08(?!P01)|53|57|58|XX|25006|25P0[34])/
/** A transaction that can be tried again as it is: it lost a race with another one. */
const LOST_RACE = /^40(?:001|P01)/

/** Errors of the network and of `pg`: those of the server have an SQLSTATE instead. */
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
  'EAI_AGAIN',
  // A Unix socket whose server does not run.
  'ENOENT'
])
const WORDS =
  /^(?:Connection terminated|timeout exceeded|timeout expired|Query read timeout|Client has encountered|Client was closed|Cannot use a pool)/

/** The server cannot be used at the moment; nothing is wrong with what was asked of it. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlStateOf(error)
  if (state !== undefined) return AWAY.test(state)
  if (error instanceof AggregateError) return error.errors.some(isAway)
  if ('code' in error && NETWORK.has(String(error.code))) return true
  return WORDS.test(error.message)
}

/** A transaction that met this goes no further on its connection. */
export function isLost(error: unknown): boolean {
  if (error instanceof Fenced || error instanceof ConnectionLost) return true
  return isAway(error) || (isSoukError(error) && error.code === 'store_unavailable')
}

/** The server understood and refused: nothing is written, and the connection is as before. */
export function isRefusal(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && !AWAY.test(state)
}

/** Two transactions were in each other's way, and this one gave way: nothing is wrong with what it wrote. */
export function isLostRace(error: unknown): boolean {
  return LOST_RACE.test(sqlStateOf(error) ?? '')
}

/** Why the server cannot be used, in words that name no host, user or password. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^(?:ECONNREFUSED|ENOENT)$/.test(code)) return 'it refuses connections'
  if (/^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return 'its host name is not found'
  if (/^57P0[13]/.test(code)) return 'it is starting or stopping'
  if (code === '25006') return 'it is read-only'
  if (code.startsWith('53300')) return 'it has no free connections'
  if (code.startsWith('53100')) return 'its disk is full'
  if (/^(?:28|3D)/.test(code)) return 'it refuses the user, the password or the name of the database'
  return 'the connection is lost'
}

/** What everybody is told who needs the database while it is away. */
export function storeUnavailable(cause: unknown): SoukError {
  if (isSoukError(cause) && cause.code === 'store_unavailable') return cause
  const detail = `The database cannot be used: ${reasonOf(cause)}. This node connects again by itself.`
  return new SoukError('store_unavailable', detail, { cause, retryAfterMs: STORE_RETRY_MS })
}
