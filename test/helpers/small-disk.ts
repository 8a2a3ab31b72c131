import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MIB = 2 ** 20

/** A file system of limited size, in memory. Needs root on Linux. */
export interface SmallDisk {
  readonly directory: string
  /** Fills the disk up to this many free bytes. */
  fillTo(freeBytes: number): void
  /** Frees the space again. */
  clear(): void
  remount(how: 'ro' | 'rw'): void
  close(): void
}

/** True if this machine can create one. */
export function mayMount(): boolean {
  try {
    makeDisk(1).close()
    return true
  } catch {
    return false
  }
}

export function makeDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'souk-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'souk-test', directory], {
      stdio: 'ignore'
    })
  } catch (error) {
    rmdirSync(directory)
    throw error
  }
  const filler = join(directory, 'filler')
  const chunk = Buffer.alloc(64 * 1024)
  return {
    directory,
    fillTo(freeBytes) {
      const file = openSync(filler, 'a')
      try {
        for (;;) {
          const { bavail, bsize } = statfsSync(directory)
          const excess = bavail * bsize - freeBytes
          if (excess <= 0) return
          writeSync(file, chunk, 0, Math.min(chunk.length, excess))
        }
      } catch (error) {
        // Another process used the remaining space.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(filler, { force: true }),
    remount: (how) => void execFileSync('mount', ['-o', `remount,${how}`, directory]),
    close() {
      execFileSync('umount', ['--lazy', directory])
      rmdirSync(directory)
    }
  }
}

export { MIB }
