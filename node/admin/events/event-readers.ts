import type { ServerResponse } from 'node:http'
import { limits, SoukError } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'

/** Who reads along. A reader who does not keep up is let go: what happens here waits for nobody. */
export class EventReaders {
  readonly #open = new Set<ServerResponse>()

  add(res: ServerResponse, clock: Clock): void {
    if (this.#open.size >= limits.EVENT_READERS_MAX) throw new SoukError('overloaded', 'Too many are reading along.')
    this.#open.add(res)
    const beat = () => {
      if (res.destroyed || res.writableEnded) return
      res.write(':\n\n')
      timer = clock.after(limits.EVENTS_HEARTBEAT_MS, beat)
    }
    let timer = clock.after(limits.EVENTS_HEARTBEAT_MS, beat)
    res.once('close', () => {
      timer.cancel()
      this.#open.delete(res)
    })
  }

  /** Ends all of them, as the node is about to. */
  close(): void {
    for (const res of this.#open) res.end()
  }
}
