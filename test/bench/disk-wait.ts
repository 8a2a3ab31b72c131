import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './statistics.ts'

const WRITES = 100
const PAGE = Buffer.alloc(4_096)

/** The median time to make one page durable, in microseconds. A call of the full path waits for it once. */
export function diskWaitUs(directory: string): number {
  const path = join(directory, 'disk-wait')
  const file = openSync(path, 'w')
  writeSync(file, Buffer.alloc(WRITES * PAGE.length))
  fdatasyncSync(file)
  // Overwrites pages, as SQLite does in its log, because a growing file takes longer.
  const waits = Array.from({ length: WRITES }, (_, page) => {
    writeSync(file, PAGE, 0, PAGE.length, page * PAGE.length)
    const startedAt = performance.now()
    fdatasyncSync(file)
    return (performance.now() - startedAt) * 1_000
  })
  closeSync(file)
  rmSync(path)
  return median(waits)
}
