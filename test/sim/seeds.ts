import assert from 'node:assert/strict'
import { run } from './run.ts'

/** Number of seeds per test. */
const BATCH = 100
/** A run takes about 25 ms; a busy machine may need ten times that. */
export const BATCH_MS = 60_000

const replay = (seed: number): string => `npm run sim -- --seed ${seed} replays it`

/** Defines tests for the seeds `first` to `last`. */
export function findsNothingWrong(first: number, last: number): void {
  for (let from = first; from <= last; from += BATCH) {
    const to = Math.min(from + BATCH - 1, last)
    it(`finds no violation with seeds ${from} to ${to}`, async function () {
      this.slow(BATCH_MS)
      const totals = { captured: 0, delivered: 0, deaths: 0, onCredit: 0 }
      for (let seed = from; seed <= to; seed++) {
        try {
          const { captured, delivered, deaths, onCredit } = await run(seed)
          totals.captured += captured
          totals.delivered += delivered
          totals.deaths += deaths
          totals.onCredit += onCredit
        } catch (cause) {
          throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}; ${replay(seed)}`, {
            cause
          })
        }
      }
      // A simulation without events would find nothing either.
      const count = to - from + 1
      for (const [what, total] of Object.entries(totals))
        assert.ok(total > count / 4, `${total} ${what} in ${count} seeds`)
    })
  }
}
