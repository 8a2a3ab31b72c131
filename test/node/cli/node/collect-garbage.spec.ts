import assert from 'node:assert/strict'
import { collectStartGarbage } from '../../../../node/cli/node/collect-garbage.ts'
import { eventually } from '../../../helpers/eventually.ts'

describe('the garbage of a start', () => {
  it('is collected once the node is idle', async () => {
    const garbage = new WeakRef({ large: 'x'.repeat(1_000) })
    collectStartGarbage(50)
    await eventually('the collection', 5_000, () => (garbage.deref() === undefined ? true : undefined))
    assert.equal('gc' in globalThis, false)
  })
})
