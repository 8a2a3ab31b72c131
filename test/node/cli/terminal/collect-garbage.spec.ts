import assert from 'node:assert/strict'
import { collectStartGarbage } from '../../../../node/cli/terminal/collect-garbage.ts'

describe('the garbage of a start', () => {
  it('is collected at once', async () => {
    const garbage = new WeakRef({ large: 'x'.repeat(1_000) })
    // A target of a WeakRef is kept until the end of the turn that created it.
    await new Promise((resolve) => setImmediate(resolve))
    collectStartGarbage()
    assert.equal(garbage.deref(), undefined)
    assert.equal('gc' in globalThis, false)
  })
})
