import type { Clock } from '../base/clock.ts'
import { CLOCK_JUMP_MS, CLOCK_TRUSTED_MS } from '../base/limits/store.ts'
import type { Documents } from '../interface/store.ts'

/** The time of the last round, kept over restarts. */
const COLLECTION = 'retention'
const KEY = 'time'

interface Seen {
  readonly last: number
  /** When the clock jumped ahead. Absent: it can be trusted. */
  readonly since?: number
}

/**
 * The time by which old data may be deleted, or undefined while the clock may be wrong: a machine that starts with a clock a year ahead must
 * not delete its books before the clock is set. A clock that jumped ahead by more than `CLOCK_JUMP_MS` since the last round counts
 * once it has stayed there for `CLOCK_TRUSTED_MS`. A node that was off for long waits as well, which does no harm.
 */
export async function trustedTime(documents: Documents, clock: Pick<Clock, 'now'>): Promise<number | undefined> {
  const now = clock.now()
  const stored = await documents.get(COLLECTION, KEY)
  const before = stored === undefined ? { last: now, since: now } : (JSON.parse(stored) as Seen)
  const since = now > before.last + CLOCK_JUMP_MS ? now : before.since
  const isSetBack = since !== undefined && now < since
  const isTrusted = since === undefined || isSetBack || now - since >= CLOCK_TRUSTED_MS
  await documents.put(COLLECTION, KEY, JSON.stringify({ last: now, ...(isTrusted ? {} : { since }) } satisfies Seen))
  return isTrusted ? now : undefined
}
