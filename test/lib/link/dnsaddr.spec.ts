import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { createNode } from '../../../lib/create-node.ts'
import { startDns, type TestDns } from '../../helpers/dns-server.ts'
import { eventually } from '../../helpers/eventually.ts'

describe('bootstrap peers by DNS', () => {
  const { resolveTxt } = Resolver.prototype
  let dns: TestDns

  before(async () => {
    dns = await startDns()
    const { address } = dns
    // A new resolver always asks the system's servers. This one asks the test's, over a real socket.
    Resolver.prototype.resolveTxt = function (this: Resolver, name: string) {
      this.setServers([address])
      return resolveTxt.call(this, name)
    }
  })
  after(() => {
    Resolver.prototype.resolveTxt = resolveTxt
    dns.close()
  })

  it('are found by the TXT records of a dnsaddr without a peer id', async () => {
    const first = await createNode()
    const second = await createNode({ bootstrap: ['/dnsaddr/peers.example'] })
    try {
      await first.start()
      const [address = ''] = first.souk.status().addresses
      dns.records.set('_dnsaddr.peers.example', [`dnsaddr=${address}`])
      await second.start()
      await eventually('the connection', 5_000, () =>
        second.libp2p.getPeers().some((peer) => peer.equals(first.libp2p.peerId)) ? true : undefined
      )
      assert.ok(dns.asked.includes('_dnsaddr.peers.example'))
    } finally {
      await second.stop()
      await first.stop()
    }
  })
})
