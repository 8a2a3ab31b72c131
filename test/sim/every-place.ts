import assert from 'node:assert/strict'
import { type FaultName, OneFault } from './one-fault.ts'
import { run } from './run.ts'

export interface EveryPlaceInit {
  readonly seed: number
  /** Tests every `step`-th place. Default: each. */
  readonly step?: number
}

/** Repeats a seed with only this fault, at one place after the other. Returns the number of runs. */
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
