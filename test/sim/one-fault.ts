import assert from 'node:assert/strict'
import { run } from './run.ts'

export const FAULTS = [
  'killed before a commit',
  'killed after a commit',
  'failed at a commit',
  'cut before a message',
  'cut after a message'
] as const
export type FaultName = (typeof FAULTS)[number]

/** The one thing that goes wrong in a run: at its `at`-th commit or message, counted from 1 over all nodes. */
export class OneFault {
  readonly what: FaultName
  readonly at: number
  #commits = 0
  #messages = 0
  #isOver = false

  constructor(what: FaultName, at: number) {
    this.what = what
    this.at = at
  }

  /** False where the run ended before it came to `at`. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** To be asked at each commit, once. */
  atCommit(): 'before' | 'after' | 'unknown' | undefined {
    if (this.what.startsWith('cut') || ++this.#commits !== this.at) return undefined
    this.#isOver = true
    if (this.what === 'failed at a commit') return 'unknown'
    return this.what === 'killed before a commit' ? 'before' : 'after'
  }

  /** To be asked at each message, once. */
  atMessage(): 'before' | 'after' | undefined {
    if (!this.what.startsWith('cut') || ++this.#messages !== this.at) return undefined
    this.#isOver = true
    return this.what === 'cut before a message' ? 'before' : 'after'
  }
}

export interface EveryPlaceInit {
  readonly seed: number
  /** Tries every `step`-th place. Default: each. */
  readonly step?: number
}

/** Runs a seed again and again without any other fault, with this one at one place after the other. Gives the number of runs. */
export async function atEveryPlace(what: FaultName, { seed, step = 1 }: EveryPlaceInit): Promise<number> {
  let runs = 0
  for (let at = 1; ; at += step) {
    const fault = new OneFault(what, at)
    try {
      await run(seed, { fault })
    } catch (cause) {
      throw new Error(`seed ${seed}, ${what} ${at}: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause
      })
    }
    if (!fault.isOver) break
    runs++
  }
  assert.ok(runs > 0, `seed ${seed} came to no place to be ${what}`)
  return runs
}
