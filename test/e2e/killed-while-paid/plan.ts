import type { Behaviour } from './upstream.ts'

/** Numbers in [0, 1) that a seed decides (mulberry32). */
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
 * One kill. By what the API has done and not by the clock, so that it comes in the midst of the calls on any machine: when so
 * many calls of the round were answered by it, and then so much later.
 */
export interface Kill {
  readonly victim: VictimName
  readonly answered: number
  readonly thenMs: number
}

export interface PlannedCall {
  /** Hex of sixteen bytes. */
  readonly id: string
  readonly behaviour: Behaviour
}

export interface Round {
  /** What so many callers ask for at the same time: each its first, and the next where that was interrupted. */
  readonly callers: ReadonlyArray<readonly PlannedCall[]>
  readonly kills: readonly Kill[]
}

export interface Plan {
  readonly seed: number
  readonly rounds: readonly Round[]
}

const VICTIMS: ReadonlyArray<readonly VictimName[]> = [['owner'], ['consumer'], ['owner', 'consumer']]
/** What a call takes from the API to the consumer, and more. */
const FIRST_KILL_MS = 20
/** One of them may come again: while a process starts, or while calls are asked for again. */
const SECOND_KILL_MS = 2_000
const SECOND_KILL_PART = 0.5
const SLOW_MS = 300
const CALLS_EACH = 3
const FAILS_PART = 0.1

/** Everything that happens by chance in a run. What the machine makes of it differs from run to run all the same. */
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

/** A UUID version 7 of now with these ten bytes behind the time. */
function uuid(bytes: readonly number[]): string {
  const [version = 0, second = 0, variant = 0, ...rest] = bytes
  const time = Date.now().toString(16).padStart(12, '0')
  return time + hex([0x70 | (version & 0x0f), second, 0x80 | (variant & 0x3f), ...rest])
}

const hex = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
