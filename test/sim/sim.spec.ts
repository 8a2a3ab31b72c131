import assert from 'node:assert/strict'
import { BUGS } from './bugs.ts'
import { Violation } from './invariants.ts'
import { run } from './run.ts'

const SEEDS = 2_000
const BATCH = 250
/** A run takes some 25 ms; a machine that does other things as well may need ten times that. */
const BATCH_MS = 60_000

const replay = (seed: number): string => `npm run sim -- --seed ${seed} replays it`

describe('the simulator', () => {
  it('runs a seed the same way every time, and another one another way', async () => {
    const [first, again, other] = [await run(7), await run(7), await run(8)]
    assert.deepEqual(first, again)
    assert.notEqual(first.digest, other.digest)
  })

  for (let from = 1; from <= SEEDS; from += BATCH) {
    it(`finds nothing wrong with seeds ${from} to ${from + BATCH - 1}`, async function () {
      this.timeout(BATCH_MS)
      this.slow(BATCH_MS)
      const totals = { captured: 0, delivered: 0, deaths: 0 }
      for (let seed = from; seed < from + BATCH; seed++) {
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
      for (const [what, count] of Object.entries(totals)) assert.ok(count > BATCH, `${count} ${what} in ${BATCH} seeds`)
    })
  }

  describe('notices that', () => {
    for (const bug of BUGS) {
      it(bug.what, async function () {
        this.timeout(BATCH_MS)
        this.slow(BATCH_MS)
        for (let seed = 1; seed <= bug.seeds; seed++) {
          const found: unknown = await run(seed, { bug }).catch((error: unknown) => error)
          if (found instanceof Violation) return
          if (found instanceof Error) throw found
        }
        assert.fail(`nothing was noticed in ${bug.seeds} seeds`)
      })
    }
  })
})
