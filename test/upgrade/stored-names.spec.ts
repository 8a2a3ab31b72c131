import assert from 'node:assert/strict'
import listed from './stored-names.json' with { type: 'json' }
import { storedNames } from './stored-names.ts'

/**
 * What lies on the disks of others, and what peers send each other, keeps its name for ever. A new name is added to
 * `stored-names.json`. One that is gone from the code is a mistake, or needs a migration and a fixture that proves it.
 */
describe('stored and wire names', () => {
  it('are those of stored-names.json', async () => {
    const names = await storedNames()
    for (const [kind, found] of Object.entries(names)) {
      assert.ok(found.length > 0, `${kind}: the code is written in another way now, and nothing is found`)
    }
    assert.deepEqual(names, listed)
  })
})
