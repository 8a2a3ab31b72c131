import type { Behaviour } from './upstream.ts'

/** Pseudo-random numbers in [0, 1) from a seed (mulberry32). */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type VictimName = 'owner' | 'consumer'

/**
 * One kill: `thenMs` after the API has sent `answered` responses in the round. A count, because a time alone would not fall among the
 * calls on every machine.
 */
export interface Kill {
  readonly victim: VictimName
  readonly answered: number
  readonly thenMs: number
}

export interface PlannedCall {
  /** Request id: 16 bytes in hex. */
  readonly id: string
  readonly behaviour: Behaviour
}

export interface Round {
  /** The concurrent callers. Each makes its first call, and the next one only if a call was interrupted. */
  readonly callers: ReadonlyArray<readonly PlannedCall[]>
  readonly kills: readonly Kill[]
}

export interface Plan {
  readonly seed: number
  readonly rounds: readonly Round[]
}

const VICTIMS: ReadonlyArray<readonly VictimName[]> = [['owner'], ['consumer'], ['owner', 'consumer']]
/** More than a response takes from the API to the consumer. */
const FIRST_KILL_MS = 20
/** A second kill may hit a process while it starts, or while calls are repeated. */
const SECOND_KILL_MS = 2_000
const SECOND_KILL_PART = 0.5
const SLOW_MS = 300
const CALLS_EACH = 3
const FAILS_PART = 0.1

/** All random choices of a run. The timing on the machine still differs between runs. */
export function planOf(seed: number, rounds: number, callers: number): Plan {
  const next = dice(seed)
  const upTo = (most: number) => Math.floor(next() * most)
  const call = (): PlannedCall => ({
    id: uuid(Array.from({ length: 10 }, () => upTo(256))),
    behaviour: { delayMs: next() < 0.4 ? 0 : upTo(SLOW_MS), status: next() < FAILS_PART ? 500 : 200 }
  })
  const round = (index: number): Round => {
    const victims = VICTIMS[index % VICTIMS.length] ?? []
    const kills = victims.map((victim): Kill => ({ victim, answered: upTo(callers), thenMs: upTo(FIRST_KILL_MS) }))
    const [first] = kills
    if (first !== undefined && next() < SECOND_KILL_PART) {
      kills.push({ ...first, victim: next() < 0.5 ? 'owner' : 'consumer', thenMs: upTo(SECOND_KILL_MS) })
    }
    const calls = () => Array.from({ length: CALLS_EACH }, call)
    return { callers: Array.from({ length: callers }, calls), kills }
  }
  return { seed, rounds: Array.from({ length: rounds }, (_, index) => round(index)) }
}

/** A UUID version 7 with the current time, then these ten bytes. */
function uuid(bytes: readonly number[]): string {
  const [version = 0, second = 0, variant = 0, ...rest] = bytes
  const time = Date.now().toString(16).padStart(12, '0')
  return time + hex([0x70 | (version & 0x0f), second, 0x80 | (variant & 0x3f), ...rest])
}

const hex = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
