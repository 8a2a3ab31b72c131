import type { Clock } from '../base/clock.ts'
import type { Documents } from '../interface/store.ts'
import { NODE } from './epoch.ts'

const RESTORED = 'restored'

/** Marks a store as restored from a backup: it may lack calls from before now. */
export async function markRestored(documents: Pick<Documents, 'put'>, clock: Pick<Clock, 'now'>): Promise<void> {
  await documents.put(NODE, RESTORED, String(Math.floor(clock.now())))
}

/** Time the store was last restored from a backup, milliseconds since the epoch; 0 without a mark. */
export async function restoredAt(documents: Pick<Documents, 'get'>): Promise<number> {
  return Number((await documents.get(NODE, RESTORED)) ?? 0)
}
