/**
 * A separate process. Restores or backs up a profile, as `argv[2]` says. Whenever its next system call finds the target changed, it first
 * copies the target to `<argv[5]>/<number of the call>`: a kill at that instant leaves these files. With `argv[6]`, it kills itself at
 * that call.
 */
import type * as FileSystem from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import type * as Sqlite from 'node:sqlite'
import { backUpStopped, restoreProfile } from '../../node/profile/profile-backup.ts'

process.umask(0o077)
const [what, directory, backup, copies, killAt] = process.argv.slice(2) as [string, string, string, string, string?]
const profile = { name: 'shop', directory }
const target = what === 'restore' ? directory : backup
/** Imported names could not be replaced. */
const builtin = createRequire(import.meta.url)
const fs = builtin('node:fs') as typeof FileSystem
const sqlite = builtin('node:sqlite') as typeof Sqlite

let calls = 0
let copied = ''
let isCopying = false

function instant(): void {
  if (isCopying) return
  isCopying = true
  if (String(calls) === killAt) process.kill(process.pid, 'SIGKILL')
  const state = fs.existsSync(target) ? stateOf(target) : copied
  if (killAt === undefined && state !== copied) fs.cpSync(target, join(copies, String(calls)), { recursive: true })
  copied = state
  calls++
  isCopying = false
}

function stateOf(path: string): string {
  const files = fs.readdirSync(path).map((name) => {
    const { size, mtimeMs } = fs.statSync(join(path, name))
    return `${name} ${size} ${mtimeMs}`
  })
  return files.join()
}

function watch(holder: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(holder, name)
    if (typeof original !== 'function') throw new Error(`there is no ${name}`)
    Reflect.set(holder, name, function (this: unknown, ...args: unknown[]) {
      instant()
      return Reflect.apply(original, this, args) as unknown
    })
  }
}

const file = await fs.promises.open(process.execPath)
watch(Reflect.getPrototypeOf(file)!, ['writeFile', 'sync'])
await file.close()
watch(fs.promises, ['chmod', 'mkdir', 'open', 'rename', 'rm'])
watch(fs, ['chmodSync', 'closeSync', 'fdatasync', 'fdatasyncSync', 'openSync', 'read'])
watch(sqlite, ['backup'])
watch(sqlite.DatabaseSync.prototype, ['close', 'exec'])
watch(sqlite.StatementSync.prototype, ['all', 'get', 'run'])
syncBuiltinESMExports()

await (what === 'restore' ? restoreProfile(profile, backup) : backUpStopped(profile, backup))
instant()
