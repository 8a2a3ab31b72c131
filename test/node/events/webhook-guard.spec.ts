import assert from 'node:assert/strict'
import { NodeGuard } from '../../../node/upstream/guard.ts'
import { webhookGuard } from '../../../node/events/webhook-guard.ts'

const PRIVATE = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.0.1',
  '198.19.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fc00::1',
  'fe80::1',
  'ff02::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '64:ff9b:1::1'
]

describe('the guard of webhooks', () => {
  for (const address of PRIVATE) {
    it(`rejects ${address}, unless private addresses are allowed`, () => {
      assert.equal(webhookGuard(undefined, false).refuses('x', address, 443), true)
      assert.equal(webhookGuard(undefined, true).refuses('x', address, 443), false)
    })
  }
  for (const address of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111']) {
    it(`allows ${address}`, () => assert.equal(webhookGuard(undefined, false).refuses('x', address, 443), false))
  }
  it('rejects the node’s own ports in any case', () => {
    const own = new NodeGuard()
    own.addPort(3000)
    assert.equal(webhookGuard(own, true).refuses('localhost', '127.0.0.1', 3000), true)
  })
})
