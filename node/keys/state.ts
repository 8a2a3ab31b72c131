import type { ErrorCode } from '../../lib/interface/index.ts'

/** What is done to a key; `time` does what it does by itself. */
export type KeyAction = 'rotate' | 'disable' | 'enable' | 'revoke'

interface KeyKind {
  /** What a caller with such a key hears; undefined where it is let in. */
  readonly refusal: ErrorCode | undefined
  readonly moves: { readonly [action in KeyAction | 'time']?: readonly string[] }
}

/**
 * States of a consumer key, the moves between them, and what a caller with such a key hears. One table: the code and
 * docs/reference/states.md follow it. `rotating`: another key has taken its place, and it works until the overlap ends.
 */
export const KEY_STATES = {
  active: {
    refusal: undefined,
    moves: { rotate: ['rotating'], disable: ['disabled'], revoke: ['revoked'], time: ['expired'] }
  },
  rotating: { refusal: undefined, moves: { disable: ['disabled'], revoke: ['revoked'], time: ['expired'] } },
  disabled: {
    refusal: 'key_disabled',
    // To what it was before.
    moves: { enable: ['active', 'rotating'], revoke: ['revoked'], time: ['expired'] }
  },
  expired: { refusal: 'key_expired', moves: { revoke: ['revoked'] } },
  revoked: { refusal: 'key_revoked', moves: {} }
} as const satisfies Record<string, KeyKind>

export type KeyState = keyof typeof KEY_STATES

/** Times in milliseconds since the epoch. */
export interface KeyTimes {
  readonly expiresAt?: number
  /** When the overlap of a rotated key ends. */
  readonly retiresAt?: number
  readonly disabledAt?: number
  readonly revokedAt?: number
}

/** Nobody writes `expired` down: it is reached by the clock alone. */
export function keyState({ expiresAt, retiresAt, disabledAt, revokedAt }: KeyTimes, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  if (now >= Math.min(expiresAt ?? Infinity, retiresAt ?? Infinity)) return 'expired'
  if (disabledAt !== undefined) return 'disabled'
  return retiresAt === undefined ? 'active' : 'rotating'
}

export function mayMove(state: KeyState, action: KeyAction): boolean {
  return action in KEY_STATES[state].moves
}

/** It was done before: doing it again changes nothing, and is no mistake. A rotation makes another key each time. */
export function isDone(state: KeyState, action: KeyAction): boolean {
  if (action === 'rotate' || mayMove(state, action)) return false
  return Object.values<KeyKind>(KEY_STATES).some(({ moves }) => moves[action]?.includes(state) === true)
}
