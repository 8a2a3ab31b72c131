import { writeSync } from 'node:fs'

const STDOUT = 1
const PAUSE_MS = 1
const paused = new Int32Array(new SharedArrayBuffer(4))

/** Prints a line and returns when the system has it, so that it survives a kill. Waits while a busy reader leaves the pipe full. */
export function printLine(line: string): void {
  let rest: Uint8Array = Buffer.from(`${line}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(paused, 0, 0, PAUSE_MS)
    }
  }
}
