import type { ServerResponse } from 'node:http'
import { limits, SoukError } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'

/** Clients of the event stream. A client that reads too slowly is disconnected, so that the node never waits for it. */
export class EventReaders {
  readonly #open = new Set<ServerResponse>()

  add(res: ServerResponse, clock: Clock): void {
    if (this.#open.size >= limits.EVENT_READERS_MAX)
      throw new SoukError('overloaded', 'Too many clients read the event stream. Close one and try again.')
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

  /** Ends all streams when the node stops. */
  close(): void {
    for (const res of this.#open) res.end()
  }
}
