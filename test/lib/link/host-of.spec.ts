import assert from 'node:assert/strict'
import { multiaddr } from '@multiformats/multiaddr'
import { hostOf } from '../../../lib/link/host-of.ts'
import { isNotPublic } from '../../../lib/link/public-addresses.ts'

const RELAY = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const PEER = '12D3KooWJbJFaZ1dwpuu9tQY3ELCKCpWMJc1dSRVbcMwhiLiFq7q'

describe('the host of an address', () => {
  for (const [address, host] of [
    ['/ip4/1.2.3.4/tcp/4402', { key: '1.2.3.4', isPrivate: false }],
    ['/ip4/127.0.0.1/tcp/4402', { key: '127.0.0.1', isPrivate: true }],
    ['/ip4/172.17.0.1/tcp/4402', { key: '172.17.0.1', isPrivate: true }],
    [
      '/ip6/2a00:1450:4001:82a::200e/tcp/1',
      { key: '2a00:1450:4001:82a::/64', site: '2a00:1450:4001::/48', isPrivate: false }
    ],
    [
      '/ip6/2a00:1450:4001:82a:1:2:3:4/tcp/1',
      { key: '2a00:1450:4001:82a::/64', site: '2a00:1450:4001::/48', isPrivate: false }
    ],
    ['/ip6/2a00::1/tcp/1', { key: '2a00:0:0:0::/64', site: '2a00:0:0::/48', isPrivate: false }],
    ['/ip6/::ffff:1.2.3.4/tcp/1', { key: '1.2.3.4', isPrivate: false }],
    ['/ip6/::ffff:10.2.3.4/tcp/1', { key: '10.2.3.4', isPrivate: true }],
    ['/ip6/::1/tcp/1', { key: '0:0:0:0::/64', site: '0:0:0::/48', isPrivate: true }],
    ['/ip6zone/eth0/ip6/fe80::1/tcp/1', { key: 'fe80:0:0:0::/64', site: 'fe80:0:0::/48', isPrivate: true }],
    // A relay is one host, whichever of its addresses was used and wherever the relayed peer is.
    [`/ip4/1.2.3.4/tcp/1/p2p/${RELAY}/p2p-circuit/p2p/${PEER}`, { key: `relay ${RELAY}`, isPrivate: false }],
    [`/ip4/127.0.0.1/tcp/1/p2p/${RELAY}/p2p-circuit`, { key: `relay ${RELAY}`, isPrivate: false }],
    ['/dns4/node.example/tcp/4402', undefined]
  ] as const) {
    it(`is derived from ${address}`, () => assert.deepEqual(hostOf(multiaddr(address)), host))
  }
})

describe('an address on the Internet', () => {
  for (const address of ['/ip4/1.2.3.4', '/ip6/2a00::1', '/ip6/::ffff:1.2.3.4']) {
    it(`is ${address}`, () => assert.equal(isNotPublic(multiaddr(`${address}/tcp/1`)), false))
  }
  const none =
    '/ip4/0.0.0.0 /ip4/10.0.0.1 /ip4/100.64.0.1 /ip4/127.0.0.1 /ip4/169.254.169.254 /ip4/192.168.0.1 /ip4/224.0.0.1 /ip4/255.255.255.255 ' +
    '/ip6/:: /ip6/::1 /ip6/::ffff:127.0.0.1 /ip6/::127.0.0.1 /ip6/64:ff9b::7f00:1 /ip6/2002:7f00:1::1 /ip6/2001:0:1::1 /ip6/fd00::1 /ip6/fe80::1 /ip6/ff02::1'
  for (const address of none.split(' ')) {
    it(`is not ${address}`, () => assert.equal(isNotPublic(multiaddr(`${address}/tcp/1`)), true))
  }
})
