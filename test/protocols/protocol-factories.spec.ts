import assert from 'node:assert/strict'
import { PROTOCOLS } from '../../lib/interface/adapter.ts'
import { protocolFactories } from '../../protocols/index.ts'

describe('the registry of protocols', () => {
  it('has a factory for every protocol a provider can name, under its own name', () => {
    assert.deepEqual(Object.keys(protocolFactories).sort(), [...PROTOCOLS].sort())
    for (const [name, { protocol }] of Object.entries(protocolFactories)) assert.equal(protocol, name)
  })
})
