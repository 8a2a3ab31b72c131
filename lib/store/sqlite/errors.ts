import { SoukError } from '../../base/errors.ts'

/**
 * The fault of a store's file, or of its disk:
 * - `busy`: another process has it open
 * - `damaged`: it is not a database, or its content is inconsistent
 * - `newer`: a newer version of Souk wrote it
 * - `full`: no space, or a quota is used up
 * - `denied`: the file may not be read or written
 * - `read_only`: the file system is read-only
 * - `failing`: the disk reported an error
 */
export type StoreFault = 'busy' | 'damaged' | 'newer' | 'full' | 'denied' | 'read_only' | 'failing'

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html. */
const BY_RESULT: Readonly<Record<number, StoreFault>> = {
  3: 'denied',
  5: 'busy',
  8: 'read_only',
  10: 'failing',
  11: 'damaged',
  13: 'full',
  14: 'denied',
  26: 'damaged'
}

const BY_SYSTEM_CODE: Readonly<Record<string, StoreFault>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'read_only',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EIO: 'failing'
}

/** An error after which the store's file is no longer usable. */
export class StoreBroken extends SoukError {
  readonly fault: StoreFault

  constructor(fault: StoreFault, detail: string, options?: { cause?: unknown }) {
    super('internal_error', detail, options)
    this.fault = fault
  }
}

/** The fault of the file; undefined for another error. */
export function faultOf(error: unknown): StoreFault | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return BY_RESULT[error.errcode & 0xff]
  return 'code' in error ? BY_SYSTEM_CODE[String(error.code)] : undefined
}

export function isOfSqlite(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error
}

/** The fault behind an error or one of its causes. */
export function storeFaultOf(error: unknown): StoreFault | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const fault = each instanceof StoreBroken ? each.fault : faultOf(each)
    if (fault !== undefined) return fault
  }
  return undefined
}
