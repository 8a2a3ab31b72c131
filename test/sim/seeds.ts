import assert from 'node:assert/strict'
import { run } from './run.ts'

/** Seeds of one test. */
const BATCH = 100
/** A run takes some 25 ms; a machine that does other things as well may need ten times that. */
export const BATCH_MS = 60_000

const replay = (seed: number): string => `npm run sim -- --seed ${seed} replays it`

/** Tests that run the seeds `first` to `last`. */
export function findsNothingWrong(first: number, last: number): void {
  for (let from = first; from <= last; from += BATCH) {
    const to = Math.min(from + BATCH - 1, last)
    it(`finds nothing wrong with seeds ${from} to ${to}`, async function () {
      this.timeout(BATCH_MS)
      this.slow(BATCH_MS)
      const totals = { captured: 0, delivered: 0, deaths: 0 }
      for (let seed = from; seed <= to; seed++) {
        try {
          const { captured, delivered, deaths } = await run(seed)
          totals.captured += captured
          totals.delivered += delivered
          totals.deaths += deaths
        } catch (cause) {
          throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}; ${replay(seed)}`, {
            cause
          })
        }
      }
      // A simulation in which nothing happens finds nothing either.
      const count = to - from + 1
      for (const [what, total] of Object.entries(totals)) assert.ok(total > count, `${total} ${what} in ${count} seeds`)
    })
  }
}
