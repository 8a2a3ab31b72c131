import { formatRequestId, limits, requestIds } from '../../lib/index.ts'
import type { Clock, Random } from '../../lib/interface/index.ts'
import type { EventData, EventType, SoukEvent } from './event-types.ts'
import { Feed } from './feed.ts'

export interface EventsInit {
  readonly clock: Clock
  readonly random: Random
  readonly log: { error(message: string, facts?: Readonly<Record<string, unknown>>): void }
}

/** Stores an event durably for its webhooks. */
export type Keep = (event: SoukEvent) => Promise<void>

/** The event publisher of a node. */
export class Events {
  readonly feed = new Feed<SoukEvent>(limits.EVENTS_KEPT_MAX)
  readonly #init: EventsInit
  readonly #ids: ReturnType<typeof requestIds>
  #keep: Keep | undefined

  constructor(init: EventsInit) {
    this.#init = init
    this.#ids = requestIds(init.clock, init.random)
  }

  /** Stores each later event with `keep` before publishing it. */
  keepBy(keep: Keep): void {
    this.#keep = keep
  }

  /**
   * Publishes an event. When this resolves, its webhooks will get the event, even after a crash. Never rejects: a failed delivery must not
   * fail the operation that caused the event.
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

  /** Creates an event without publishing it. */
  make<T extends EventType>(type: T, data: EventData<T>): SoukEvent {
    const timestamp = new Date(this.#init.clock.now()).toISOString()
    return { id: `evt_${formatRequestId(this.#ids.next())}`, type, timestamp, data }
  }
}
