import assert from 'node:assert/strict'
import { multiaddr } from '@multiformats/multiaddr'
import { announcedAddresses } from '../../../lib/link/announced-addresses.ts'

/** Interface addresses, and whether a node announces them on a public and on a private network. */
const TABLE: ReadonlyArray<readonly [address: string, onPublic: boolean, onPrivate: boolean]> = [
  ['/ip4/11.1.1.2/tcp/4402', true, true],
  ['/ip4/172.32.0.1/tcp/4402', true, true],
  ['/ip4/100.128.0.1/tcp/4402', true, true],
  ['/ip6/2a00:11:1::2/tcp/4402', true, true],
  ['/ip6/2001:4860::1/tcp/4402', true, true],
  ['/dns4/node.example/tcp/4402', true, true],
  ['/ip4/10.1.2.3/tcp/4402', false, true],
  ['/ip4/172.17.0.1/tcp/4402', false, true],
  ['/ip4/192.168.1.5/tcp/4402', false, true],
  ['/ip4/100.64.3.2/tcp/4402', false, true],
  ['/ip4/169.254.0.9/tcp/4402', false, true],
  ['/ip6/fd12:3456::1/tcp/4402', false, true],
  ['/ip6/fe80::1/tcp/4402', false, true],
  ['/ip6/fec0::1/tcp/4402', false, true],
  ['/ip6/::ffff:11.1.1.2/tcp/4402', false, true],
  ['/ip4/127.0.0.1/tcp/4402', false, true],
  ['/ip4/127.8.8.8/tcp/4402', false, true],
  ['/ip6/::1/tcp/4402', false, true]
]

const RELAY = '12D3KooWPSgXHiPKLrWrV4E86RhL7atK4MgLrrmsdudu561RHC1G'

describe('announcedAddresses', () => {
  for (const [address, onPublic, onPrivate] of TABLE) {
    it(`announces ${address} ${onPublic ? 'everywhere' : 'where the network lives on private addresses'}`, () => {
      const isTold = (privateAddresses: boolean) =>
        announcedAddresses([multiaddr(address)], privateAddresses)
          .map(String)
          .includes(multiaddr(address).toString())
      assert.deepEqual([isTold(false), isTold(true)], [onPublic, onPrivate])
    })
  }

  it('announces public addresses first and loopback last, because peers use the first few only', () => {
    const found = ['/ip4/127.0.0.1/tcp/1', '/ip4/10.1.1.1/tcp/1', '/ip6/::1/tcp/1', '/ip4/11.1.1.1/tcp/1']
    const told = announcedAddresses(
      found.map((text) => multiaddr(text)),
      true
    )
    assert.deepEqual(told.map(String), [found[3], found[1], found[0], found[2]])
  })

  it('announces two addresses of an IPv6 /64, because a machine has many temporary ones', () => {
    const at = (host: string, port = 4402) => `/ip6/${host}/tcp/${port}`
    const circuit = (host: string) => `${at(host)}/p2p/${RELAY}/p2p-circuit`
    const temporary = [at('2a00:11:1::9'), at('2a00:11:1::8'), at('2a00:11:1::7'), at('2a00:11:1::2')]
    const others = [at('2a00:11:2::9'), at('2a00:11:1::9', 443), circuit('2a00:11:1::5'), '/ip4/11.1.1.1/tcp/4402']
    const told = announcedAddresses(
      [...temporary, ...others].map((text) => multiaddr(text)),
      false
    )
    assert.deepEqual(told.map(String), [temporary[0], temporary[3], ...others])
  })
})
