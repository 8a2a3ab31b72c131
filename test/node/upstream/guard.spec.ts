import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { NodeGuard } from '../../../node/upstream/guard.ts'

describe('the guard of a node', () => {
  it('blocks the node’s own ports on every address of this machine', () => {
    const guard = new NodeGuard()
    guard.addPort(3000)
    const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
    for (const address of ['127.0.0.1', '127.8.9.1', '0.0.0.0', '::', '::1', ...own]) {
      assert(guard.refuses('x', address, 3000), address)
      assert(!guard.refuses('x', address, 3001), address)
    }
    assert(!guard.refuses('x', '10.255.255.254', 3000))
  })

  it('blocks the chain’s endpoint by name, and by address if that is private', async () => {
    const guard = new NodeGuard()
    await guard.addService('https://rpc.example.invalid')
    await guard.addService('http://10.7.7.7:8545/key')
    await guard.addService('http://localhost:8546')
    assert(guard.refuses('rpc.example.invalid', '203.0.113.5', 443))
    assert(guard.refuses('RPC.example.invalid.', '203.0.113.5', 443))
    assert(!guard.refuses('rpc.example.invalid', '203.0.113.5', 8443))
    assert(!guard.refuses('other.example', '203.0.113.5', 443))
    assert(guard.refuses('alias.example', '10.7.7.7', 8545))
    for (const address of ['127.0.0.1', '::1', '0.0.0.0']) assert(guard.refuses('alias.example', address, 8546))
  })

  it('knows the default port of a database URL', async () => {
    const guard = new NodeGuard()
    await guard.addService('postgres://user:secret@127.0.0.1/souk')
    assert(guard.refuses('localhost', '127.0.0.1', 5432))
  })
})
