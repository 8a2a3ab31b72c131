import assert from 'node:assert/strict'
import os from 'node:os'
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { AddressManager, TransportManager } from '@libp2p/interface-internal'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { INTERFACES_CHECK_MS } from '../../../lib/base/limits/link.ts'
import { createNode } from '../../../lib/create-node.ts'
import { interfaceAddresses } from '../../../lib/link/interface-addresses.ts'
import { muxerOf } from '../../../lib/link/ping-connection.ts'
import { ANY_RELAY, RelayedAddresses } from '../../../lib/link/reach/relayed-addresses.ts'
import { soukCircuits } from '../../../lib/link/reach/souk-circuits.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { failInterfaces, LOOPBACK, resetInterfaces, setInterfaces } from '../../helpers/set-interfaces.ts'

const LAN = '192.168.1.5'
const PUBLIC = '11.1.1.2'
const PUBLIC_6 = '2a00:11:1::2'

interface Parts {
  readonly addressManager: AddressManager
  readonly transportManager: TransportManager
}

describe('addresses of interfaces', () => {
  afterEach(resetInterfaces)

  const told = async (listen: string, privateAddresses: boolean, announce: readonly string[] = []) => {
    const network = privateAddresses ? 'dev' : 'base'
    const node = await createNode({ network, listen: [listen], privateAddresses, announce })
    await node.start()
    try {
      const hosts = (texts: string[]) => texts.map((text) => text.split('/')[2])
      const shown = hosts([...node.souk.status().addresses])
      return { told: hosts(node.libp2p.getMultiaddrs().map(String)), shown }
    } finally {
      await node.stop()
    }
  }

  it('are announced at once, private ones only on a private network', async () => {
    setInterfaces(LOOPBACK, LAN, PUBLIC, PUBLIC_6)
    const onPublic = await told('/ip4/0.0.0.0/tcp/0', false)
    assert.deepEqual(onPublic, { told: [PUBLIC], shown: [PUBLIC] })
    const onPrivate = await told('/ip4/0.0.0.0/tcp/0', true)
    assert.deepEqual(onPrivate.told, [PUBLIC, LAN, LOOPBACK])
  })

  it('stay as they were while the system does not list them, for lack of files to open', async () => {
    setInterfaces(LOOPBACK, LAN)
    const clock = manualClock()
    const node = await createNode({ network: 'dev', listen: ['/ip4/0.0.0.0/tcp/0'], clock })
    await node.start()
    try {
      const before = node.libp2p.getMultiaddrs().map(String)
      assert.equal(before.length, 2)
      failInterfaces()
      await clock.advance(2 * INTERFACES_CHECK_MS)
      assert.deepEqual(node.libp2p.getMultiaddrs().map(String), before)
      setInterfaces(LOOPBACK)
      await clock.advance(INTERFACES_CHECK_MS)
      assert.equal(node.libp2p.getMultiaddrs().length, 1)
    } finally {
      await node.stop()
    }
  })

  it('are the listen addresses: a loopback node announces nothing on a public network', async () => {
    setInterfaces(LOOPBACK, PUBLIC)
    assert.deepEqual(await told('/ip4/127.0.0.1/tcp/0', false), { told: [], shown: [LOOPBACK] })
    assert.deepEqual(await told('/ip4/127.0.0.1/tcp/0', true), { told: [LOOPBACK], shown: [LOOPBACK] })
  })

  it('are announced for both IP versions, as configured to listen', async function () {
    const has6 = Object.values(os.networkInterfaces()).some((known = []) =>
      known.some(({ family }) => family === 'IPv6')
    )
    setInterfaces(LOOPBACK, PUBLIC, PUBLIC_6)
    // A machine without IPv6 cannot listen on `::`.
    const listen = has6 ? '/ip6/::/tcp/0' : '/ip4/0.0.0.0/tcp/0'
    assert.deepEqual((await told(listen, false)).told, [has6 ? PUBLIC_6 : PUBLIC])
  })

  it('are replaced by the operator’s announce addresses', async () => {
    setInterfaces(LOOPBACK, PUBLIC)
    assert.deepEqual((await told('/ip4/0.0.0.0/tcp/0', false, ['/ip4/10.0.0.9/tcp/4402'])).told, ['10.0.0.9'])
  })

  it('are added and removed while the node runs, and its peers are told', async () => {
    setInterfaces(LOOPBACK)
    const clock = manualClock()
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/0.0.0.0/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      // The test counts pings.
      streamMuxers: [yamux({ enableKeepAlive: false })],
      connectionMonitor: { enabled: false },
      services: { interfaces: interfaceAddresses({ clock }) }
    })
    const isTold = () => node.getMultiaddrs().some((address) => address.toString().includes(PUBLIC))
    const peer = await createNode()
    let pings = 0
    await peer.start()
    let updates = 0
    node.addEventListener('self:peer:update', () => updates++)
    try {
      await eventually('the first addresses to be told', 5_000, () => (updates > 0 ? true : undefined))
      setInterfaces(LOOPBACK, PUBLIC)
      assert.equal(isTold(), false)
      let before = updates
      await clock.advance(INTERFACES_CHECK_MS)
      assert.equal(isTold(), true)
      await eventually('peers to be told the new one', 5_000, () => (updates > before ? true : undefined))
      await node.dial(peer.libp2p.getMultiaddrs())
      const accepted = await eventually('the other end', 1_000, () => peer.libp2p.getConnections(node.peerId)[0])
      Object.assign(muxerOf(accepted) ?? {}, { handlePing: () => void pings++ })
      assert.equal(pings, 0)
      setInterfaces(LOOPBACK)
      before = updates
      await clock.advance(INTERFACES_CHECK_MS)
      assert.equal(isTold(), false)
      await eventually('peers to be told that it is gone', 5_000, () => (updates > before ? true : undefined))
      // Its connections may be dead.
      await eventually('a ping', 1_000, () => (pings > 0 ? true : undefined))
    } finally {
      await peer.stop()
      await node.stop()
    }
  })

  describe('of a node with relays', () => {
    const OTHER = '12D3KooWPSgXHiPKLrWrV4E86RhL7atK4MgLrrmsdudu561RHC1G'
    const RELAYED = '/ip4/11.1.1.9/tcp/443/p2p/12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5/p2p-circuit'
    let clock: ManualClock
    let own: string
    let announced: () => string[]
    let relayed: RelayedAddresses
    let manager: AddressManager
    let stop: () => unknown

    beforeEach(async () => {
      setInterfaces(LOOPBACK, PUBLIC)
      clock = manualClock()
      const node = await createLibp2p({
        addresses: { listen: ['/ip4/0.0.0.0/tcp/0', ANY_RELAY.toString()] },
        transports: [tcp(), soukCircuits()],
        connectionEncrypters: [noise()],
        streamMuxers: [yamux()],
        services: {
          identify: identify(),
          interfaces: interfaceAddresses({ clock }),
          parts: ({ addressManager, transportManager }: Parts) => ({ addressManager, transportManager })
        }
      })
      stop = () => node.stop()
      announced = () => node.getMultiaddrs().map((address) => address.toString().replace(/\/p2p\/[^/]+$/, ''))
      const { addressManager, transportManager } = node.services.parts
      manager = addressManager
      const listeners = transportManager.getListeners()
      relayed = listeners.find((each) => each instanceof RelayedAddresses) ?? assert.fail('no listener')
      own = announced().find((address) => address.includes(PUBLIC)) ?? assert.fail('not announced')
    })
    afterEach(() => stop())

    const set = async (...addresses: string[]) => {
      relayed.set(addresses.map((address) => multiaddr(address)))
      await clock.advance(INTERFACES_CHECK_MS)
    }

    it('stay when a relay goes that stated the address of this node', async () => {
      await set(`${own}/p2p/${OTHER}/p2p-circuit`)
      relayed.set([])
      assert.equal(announced().includes(own), true, 'at once')
      await clock.advance(INTERFACES_CHECK_MS)
      assert.equal(announced().includes(own), true, 'after a check')
    })

    it('stay beside those of a relay when another relay goes that stated its address', async () => {
      await set(RELAYED, RELAYED.replace(/12D3\w+/, OTHER))
      await set(RELAYED)
      assert.equal(announced().includes(RELAYED), true)
      await set()
      assert.deepEqual(
        announced().filter((address) => address.includes('p2p-circuit')),
        []
      )
    })

    it('return after libp2p withdrew them together with another address', async () => {
      manager.removeObservedAddr(multiaddr(`${own}/ws`))
      assert.equal(announced().includes(own), false)
      await clock.advance(INTERFACES_CHECK_MS)
      assert.equal(announced().includes(own), true)
    })
  })
})
