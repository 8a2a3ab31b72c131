import type { ErrorCode } from '../../lib/interface/index.ts'

/** Actions on a key. `time` stands for changes by the clock. */
export type KeyAction = 'rotate' | 'disable' | 'enable' | 'revoke'

interface KeyKind {
  /** Error for a caller with such a key; undefined if the key is accepted. */
  readonly refusal: ErrorCode | undefined
  readonly moves: { readonly [action in KeyAction | 'time']?: readonly string[] }
}

/**
 * The states of a consumer key, their transitions, and the error that a caller gets. docs/reference/states.md is generated from this table.
 * `rotating`: the key was replaced, and works until the overlap ends.
 */
export const KEY_STATES = {
  active: {
    refusal: undefined,
    // Without an overlap, the key is revoked.
    moves: { rotate: ['rotating', 'revoked'], disable: ['disabled'], revoke: ['revoked'], time: ['expired'] }
  },
  rotating: { refusal: undefined, moves: { disable: ['disabled'], revoke: ['revoked'], time: ['expired'] } },
  disabled: {
    refusal: 'key_disabled',
    // Back to the state before it was disabled.
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

/** `expired` is never stored: it follows from the clock. */
export function keyState({ expiresAt, retiresAt, disabledAt, revokedAt }: KeyTimes, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked'
  if (now >= Math.min(expiresAt ?? Infinity, retiresAt ?? Infinity)) return 'expired'
  if (disabledAt !== undefined) return 'disabled'
  return retiresAt === undefined ? 'active' : 'rotating'
}

export function mayMove(state: KeyState, action: KeyAction): boolean {
  return action in KEY_STATES[state].moves
}

/** Whether an action was done before, so that a repeat changes nothing. A rotation creates another key each time. */
export function isDone(state: KeyState, action: KeyAction): boolean {
  if (action === 'rotate' || mayMove(state, action)) return false
  return Object.values<KeyKind>(KEY_STATES).some(({ moves }) => moves[action]?.includes(state) === true)
}
