import type { ErrorCode } from '../../lib/interface/index.ts'

/** States of a consumer key, the moves between them, and what a caller with such a key hears. One table. */
export const KEY_STATES = {
  active: { to: ['expired', 'revoked'], refusal: undefined },
  expired: { to: ['revoked'], refusal: 'key_expired' },
  revoked: { to: [], refusal: 'key_revoked' }
} as const satisfies Record<string, { to: readonly string[]; refusal: ErrorCode | undefined }>

export type KeyState = keyof typeof KEY_STATES

/** Times in milliseconds since the epoch. */
interface KeyTimes {
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** Nobody writes `expired` down: it is reached by the clock alone. */
export function keyState(times: KeyTimes, now: number): KeyState {
  if (times.revokedAt !== undefined) return 'revoked'
  return times.expiresAt !== undefined && now >= times.expiresAt ? 'expired' : 'active'
}
