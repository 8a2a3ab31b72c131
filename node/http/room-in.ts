import type { ServerResponse } from 'node:http'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/** Resolves when the client has read on or disconnected. Disconnects a client that reads nothing for `READER_STALL_MS`. */
export function roomIn(res: ServerResponse, clock: Pick<Clock, 'after'>): Promise<void> {
  // Then neither event comes any more.
  if (res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const stalled = clock.after(limits.READER_STALL_MS, () => res.destroy())
    const go = () => {
      stalled.cancel()
      res.off('drain', go).off('close', go)
      resolve()
    }
    res.on('drain', go).on('close', go)
  })
}
