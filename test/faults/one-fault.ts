import { atEveryPlace } from '../sim/every-place.ts'
import { FAULTS } from '../sim/one-fault.ts'

const SEEDS = 10

/** Scripted runs with a single fault, at each commit and each message in turn. */
export async function run(): Promise<Record<string, number>> {
  const runs: Record<string, number> = {}
  for (const what of FAULTS) {
    const name = what.replaceAll(' ', '_')
    runs[name] = 0
    for (let seed = 1; seed <= SEEDS; seed++) runs[name] += await atEveryPlace(what, { seed })
  }
  return runs
}
