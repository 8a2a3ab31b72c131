import type { ComponentLogger } from '@libp2p/interface'
import { systemRandom } from '../../lib/index.ts'
import type { Clock, Documents, UpstreamGuard } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'
import type { SecretBox } from '../upstream/secret-box.ts'
import { Events } from './events.ts'
import { WatchedCalls } from './watch-calls.ts'
import { Webhooks } from './webhooks.ts'

export interface StartEventsInit {
  readonly documents: Documents
  readonly secretBox: SecretBox
  readonly guard: UpstreamGuard
  readonly clock: Clock
  readonly log: Log
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
}

/** The parts that publish events. Disposal stops deliveries to webhooks. */
export interface NodeEvents extends AsyncDisposable {
  readonly events: Events
  readonly webhooks: Webhooks
  readonly calls: WatchedCalls
}

export async function startEvents(init: StartEventsInit): Promise<NodeEvents> {
  const events = new Events({ ...init, random: systemRandom })
  const webhooks = new Webhooks({ ...init, random: systemRandom, events })
  await webhooks.start()
  const calls = new WatchedCalls(init.clock, events)
  return { events, webhooks, calls, [Symbol.asyncDispose]: () => webhooks.stop() }
}
