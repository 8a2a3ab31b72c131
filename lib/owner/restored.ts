import type { Clock } from '../base/clock.ts'
import type { Documents } from '../interface/store.ts'
import { NODE } from './epoch.ts'

const RESTORED = 'restored'

/** Says in a store that it is a copy from a backup: calls from before now may be missing in it. */
export async function markRestored(documents: Pick<Documents, 'put'>, clock: Pick<Clock, 'now'>): Promise<void> {
  await documents.put(NODE, RESTORED, String(Math.floor(clock.now())))
}

/** When the store was last restored from a backup, milliseconds since the epoch; 0 where it never was, as far as it says. */
export async function restoredAt(documents: Pick<Documents, 'get'>): Promise<number> {
  return Number((await documents.get(NODE, RESTORED)) ?? 0)
}
