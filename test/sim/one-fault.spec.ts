import { atEveryPlace } from './every-place.ts'
import { FAULTS } from './one-fault.ts'
import { BATCH_MS } from './seeds.ts'

/** `npm run faults -- one-fault` tests every place of ten seeds. */
const STEP = 17

describe('a run with a single fault', () => {
  for (const what of FAULTS) {
    it(`ends with equal books if a node or link is ${what}`, async function () {
      this.slow(BATCH_MS)
      await atEveryPlace(what, { seed: 3, step: STEP })
    })
  }
})
