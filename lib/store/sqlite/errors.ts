import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
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
 * - `no_files`: this process, or the machine, has no file left to open; the store is not at fault
 */
export type StoreFault = 'busy' | 'damaged' | 'newer' | 'full' | 'denied' | 'read_only' | 'failing' | 'no_files'

const SQLITE_CANTOPEN = 14
/** `souk.db`, `souk.db-wal` and `souk.db-shm`. */
const FILES_OF_A_STORE = 3

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html. */
const BY_RESULT: Readonly<Record<number, StoreFault>> = {
  3: 'denied',
  5: 'busy',
  8: 'read_only',
  10: 'failing',
  11: 'damaged',
  13: 'full',
  [SQLITE_CANTOPEN]: 'denied',
  26: 'damaged'
}

const BY_SYSTEM_CODE: Readonly<Record<string, StoreFault>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'read_only',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EIO: 'failing',
  EMFILE: 'no_files',
  ENFILE: 'no_files'
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
  if ('errcode' in error && typeof error.errcode === 'number') {
    const result = error.errcode & 0xff
    return result === SQLITE_CANTOPEN && !canOpenFiles() ? 'no_files' : BY_RESULT[result]
  }
  return 'code' in error ? BY_SYSTEM_CODE[String(error.code)] : undefined
}

/** Whether there is room for a database, its log and the index of that. SQLite does not tell why it cannot open a file. */
function canOpenFiles(): boolean {
  const opened: number[] = []
  try {
    for (let n = 0; n < FILES_OF_A_STORE; n++) opened.push(openSync(devNull, 'r'))
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && BY_SYSTEM_CODE[String(error.code)] === 'no_files')
  } finally {
    for (const file of opened) closeSync(file)
  }
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
