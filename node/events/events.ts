import { formatRequestId, limits, requestIds } from '../../lib/index.ts'
import type { Clock, Random } from '../../lib/interface/index.ts'
import type { EventData, EventType, SoukEvent } from './event-types.ts'
import { Feed } from './feed.ts'

export interface EventsInit {
  readonly clock: Clock
  readonly random: Random
  readonly log: { error(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/** Keeps an event for those who are to hear of it, whatever becomes of this process. */
export type Keep = (event: SoukEvent) => Promise<void>

/** What happens on this node that somebody may want to hear of. */
export class Events {
  readonly feed = new Feed<SoukEvent>(limits.EVENTS_KEPT_MAX)
  readonly #init: EventsInit
  readonly #ids: ReturnType<typeof requestIds>
  #keep: Keep | undefined

  constructor(init: EventsInit) {
    this.#init = init
    this.#ids = requestIds(init.clock, init.random)
  }

  /** From now on each event is kept so first. */
  keepBy(keep: Keep): void {
    this.#keep = keep
  }

  /**
   * Tells of something. When it resolves, whoever has a webhook for it will hear of it, also after a crash. It never rejects: what happened has
   * happened, whether it can be told or not.
   */
  async emit<T extends EventType>(type: T, data: EventData<T>): Promise<void> {
    const event = this.make(type, data)
    try {
      await this.#keep?.(event)
    } catch (cause) {
      this.#init.log.error('an event is not delivered to webhooks', { type, event: event.id, cause })
    }
    this.feed.tell(event)
  }

  /** An event that nobody is told of yet. */
  make<T extends EventType>(type: T, data: EventData<T>): SoukEvent {
    const timestamp = new Date(this.#init.clock.now()).toISOString()
    return { id: `evt_${formatRequestId(this.#ids.next())}`, type, timestamp, data }
  }
}
