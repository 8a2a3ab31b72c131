import assert from 'node:assert/strict'
import listed from './stored-names.json' with { type: 'json' }
import { storedNames } from './stored-names.ts'

/**
 * Names on disks and in messages between peers never change. A new name is added to `stored-names.json`. A name that is missing
 * in the code is a mistake, or needs a migration with a fixture that tests it.
 */
describe('stored and wire names', () => {
  it('equal those of stored-names.json', async () => {
    const names = await storedNames()
    for (const [kind, found] of Object.entries(names)) {
      assert.ok(found.length > 0, `${kind}: the code is written in another way now, and nothing is found`)
    }
    assert.deepEqual(names, listed)
  })
})
