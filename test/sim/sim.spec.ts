import assert from 'node:assert/strict'
import { BUGS } from './bugs.ts'
import { Violation } from './invariants.ts'
import { run } from './run.ts'
import { BATCH_MS, findsNothingWrong } from './seeds.ts'

describe('the simulator', () => {
  it('repeats a seed exactly, and varies with the seed', async () => {
    const [first, again, other] = [await run(7), await run(7), await run(8)]
    assert.deepEqual(first, again)
    assert.notEqual(first.digest, other.digest)
  })

  // `sim.long.spec.ts` continues with 201.
  findsNothingWrong(1, 200)
  // A call waits for a read of the chain, and meanwhile its owner forgets the channel and registers it again.
  findsNothingWrong(205_327, 205_327)

  describe('detects that', () => {
    for (const bug of BUGS) {
      it(bug.what, async function () {
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
