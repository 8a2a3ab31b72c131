import type { ServerResponse } from 'node:http'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/**
 * Resolves when the client has read the whole response or disconnected. Disconnects a client that reads slower than `ANSWER_READ_MS` and
 * `ANSWER_READ_MS_PER_MIB` allow.
 */
export function untilRead(res: ServerResponse, clock: Pick<Clock, 'after'>, bytes: number): Promise<void> {
  if (res.writableFinished || res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const mostMs = limits.ANSWER_READ_MS + (bytes / 2 ** 20) * limits.ANSWER_READ_MS_PER_MIB
    const late = clock.after(mostMs, () => res.destroy())
    const over = () => {
      late.cancel()
      res.off('finish', over).off('close', over)
      resolve()
    }
    res.on('finish', over).on('close', over)
  })
}
