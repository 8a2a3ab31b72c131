import assert from 'node:assert/strict'
import type { Connection, IdentifyResult, Libp2pEvents, PeerStore } from '@libp2p/interface'
import type { AddressManager, ConnectionManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { tcp } from '@libp2p/tcp'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { TypedEventEmitter } from 'main-event'
import { REACH_CHECK_MS, REACH_MOVED_MS, REACH_SETTLE_MS } from '../../../../lib/base/limits/reach.ts'
import { DIAL_BACK_PROTOCOL, type DialBack } from '../../../../lib/link/reach/dial-back.ts'
import type { MappedPort } from '../../../../lib/interface/port-mapping.ts'
import { ReachMonitor } from '../../../../lib/link/reach/reach-monitor.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'
import { LOOPBACK, resetInterfaces, setInterfaces } from '../../../helpers/set-interfaces.ts'

const BOOTSTRAP = '/ip4/11.1.1.9/tcp/4402'

describe('ReachMonitor', () => {
  const own = '/ip4/11.1.1.1/tcp/4402'
  let clock: ManualClock
  let connections: Connection[]
  let mapped: MappedPort | undefined
  /** The ports of each request to dial back. */
  let asked: Array<readonly number[]>
  let onAsked: () => Promise<void>
  /** A peer’s response to a request to dial back: the addresses that it dialled, and those that it reached. */
  let verdict: { dialled: string[]; reached: string[] }
  let announced: Set<string>
  let events: TypedEventEmitter<Libp2pEvents>
  let monitor: ReachMonitor

  const connectionFrom = (address: string, direction: Connection['direction']) =>
    ({ remotePeer: address, remoteAddr: multiaddr(address), direction, status: 'open' }) as unknown as Connection

  beforeEach(() => {
    clock = manualClock()
    connections = []
    mapped = undefined
    asked = []
    onAsked = async () => {}
    // The only peer is in a network that lets port 443 out, so it reaches nobody at another port.
    verdict = { dialled: [own], reached: [] }
    announced = new Set()
    events = new TypedEventEmitter()
    start({
      getAddresses: () => [own, ...announced].map((address) => multiaddr(address)),
      getAddressesWithMetadata: () => [{ multiaddr: multiaddr(own), type: 'transport' }],
      addObservedAddr: (address: Multiaddr) => void announced.add(address.toString()),
      confirmObservedAddr: () => {},
      removeObservedAddr: (address: Multiaddr) => void announced.delete(address.toString())
    } as unknown as AddressManager)
  })
  afterEach(() => monitor.stop())

  function start(addressManager: AddressManager): void {
    monitor?.stop()
    monitor = new ReachMonitor({
      addressManager,
      connectionManager: { getConnections: () => connections } as unknown as ConnectionManager,
      peerStore: { get: async () => ({ protocols: [DIAL_BACK_PROTOCOL] }) } as unknown as PeerStore,
      events,
      dialBack: {
        async ask(_peer: unknown, { ports }: { readonly ports: readonly number[] }) {
          asked.push(ports)
          await onAsked()
          return verdict
        }
      } as unknown as DialBack,
      bootstrap: new Set([BOOTSTRAP]),
      privateAddresses: false,
      relays: () => [],
      mapped: () => mapped,
      onChecked: () => {},
      clock,
      log: defaultLogger().forComponent('test')
    })
    monitor.start()
  }

  it('believes peers that cannot connect, unless another peer of the Internet did', async () => {
    connections = [connectionFrom('/ip4/11.1.1.9/tcp/443', 'outbound')]
    await clock.advance(REACH_SETTLE_MS)
    assert.equal(monitor.status().state, 'none')
    for (const [from, state] of [
      ['/ip4/192.168.1.7/tcp/5000', 'none'],
      ['/ip4/11.1.1.8/tcp/443/p2p/12D3KooWPSgXHiPKLrWrV4E86RhL7atK4MgLrrmsdudu561RHC1G/p2p-circuit', 'none'],
      ['/ip4/11.1.1.7/tcp/5000', 'direct']
    ] as const) {
      connections = [connectionFrom(from, 'inbound')]
      assert.equal(monitor.status().state, state, from)
    }
  })

  it('asks peers to dial the port of the router too, at once, also where a check is running', async () => {
    connections = [connectionFrom('/ip4/11.1.1.9/tcp/443', 'outbound')]
    const slow = Promise.withResolvers<void>()
    onAsked = () => slow.promise
    await clock.advance(REACH_SETTLE_MS)
    mapped = { port: 9_000, by: 'UPnP' }
    monitor.wake()
    slow.resolve()
    await clock.advance(REACH_SETTLE_MS)
    await clock.advance(REACH_SETTLE_MS)
    assert.deepEqual(asked, [[4402], [9_000, 4402]])
    assert.deepEqual(monitor.status().mapped, mapped)
  })

  it('announces the new address of a router when a peer sees it, and withdraws the earlier one', async () => {
    const [before, now] = ['/ip4/11.1.2.1/tcp/4402', '/ip4/11.1.2.2/tcp/4402']
    const bootstrap = connectionFrom(BOOTSTRAP, 'outbound')
    const sees = (address: string) => {
      const detail = { peerId: bootstrap.remotePeer, connection: bootstrap, observedAddr: multiaddr(address) }
      events.dispatchEvent(new CustomEvent('peer:identify', { detail: detail as unknown as IdentifyResult }))
      return clock.advance(REACH_SETTLE_MS)
    }
    connections = [bootstrap]
    verdict = { dialled: [before], reached: [before] }
    await sees(before)
    assert.deepEqual([...announced], [before])
    await clock.advance(REACH_MOVED_MS)
    await sees('/ip4/11.1.2.1/tcp/50000')
    assert.equal(asked.length, 1)
    verdict = { dialled: [now], reached: [now] }
    await sees('/ip4/11.1.2.2/tcp/50001')
    assert.deepEqual([...announced], [now])
    await sees('/ip4/11.1.2.3/tcp/50001')
    assert.equal(asked.length, 2, 'a peer that sees other addresses all the time is not asked all the time')
  })

  it('announces an address that two hosts reached, however many peers of one host did', async () => {
    const forwarded = '/ip4/11.1.2.1/tcp/4402'
    verdict = { dialled: [forwarded], reached: [forwarded] }
    for (const [peers, isAnnounced] of [
      [['/ip4/11.1.1.7/tcp/1', '/ip4/11.1.1.7/tcp/2', '/ip4/11.1.1.7/tcp/3'], false],
      // One customer of a provider has a /48.
      [['/ip6/2a00:11:7:1::1/tcp/1', '/ip6/2a00:11:7:2::1/tcp/1'], false],
      // A web server in front of this node.
      [['/ip4/127.0.0.1/tcp/1', '/ip4/127.0.0.1/tcp/2'], false],
      [['/ip4/11.1.1.7/tcp/1', '/ip4/11.1.1.8/tcp/2'], true],
      [['/ip4/11.1.1.7/tcp/1', '/ip4/11.1.1.7/tcp/2', '/ip4/11.1.1.7/tcp/3', '/ip4/11.1.1.8/tcp/1'], true]
    ] as const) {
      connections = peers.map((address) => connectionFrom(address, 'inbound'))
      monitor.wake()
      await clock.advance(REACH_SETTLE_MS)
      assert.deepEqual([...announced], isAnnounced ? [forwarded] : [], peers.join())
      assert.equal(monitor.status().isConfirmed, isAnnounced, peers.join())
    }
  })

  const listenAt = (host: string) =>
    createLibp2p({
      addresses: { listen: [`/ip4/${host}/tcp/0`] },
      transports: [tcp()],
      services: { addresses: ({ addressManager }: { readonly addressManager: AddressManager }) => ({ addressManager }) }
    })

  it('announces a forwarded address again when libp2p drops it with another interface, or another port of its host', async () => {
    setInterfaces(LOOPBACK, '192.168.1.5', '172.17.0.1')
    const node = await listenAt('0.0.0.0')
    try {
      start(node.services.addresses.addressManager)
      const [, port] = /tcp\/(\d+)/.exec(node.getMultiaddrs().join()) ?? assert.fail('no port')
      const [forwarded, former] = [`/ip4/11.1.2.1/tcp/${port}`, '/ip4/11.1.2.1/tcp/9000']
      const isAnnounced = () => node.getMultiaddrs().some((address) => address.toString().startsWith(forwarded))
      const check = () => clock.advance(REACH_CHECK_MS + REACH_SETTLE_MS)
      connections = [connectionFrom(BOOTSTRAP, 'outbound')]
      verdict = { dialled: [forwarded, former], reached: [forwarded, former] }
      await check()
      assert.equal(isAnnounced(), true)
      // libp2p withdraws all ports of a host with one.
      verdict = { dialled: [former, forwarded], reached: [forwarded] }
      await check()
      assert.equal(isAnnounced(), true)
      // libp2p tied it to the last interface.
      setInterfaces(LOOPBACK, '192.168.1.5')
      assert.equal(isAnnounced(), false)
      await check()
      assert.equal(isAnnounced(), true)
    } finally {
      resetInterfaces()
      await node.stop()
    }
  })
  for (const [host, isOffline] of [
    ['0.0.0.0', true],
    [LOOPBACK, false]
  ] as const) {
    it(`tells a machine without a network from a node that listens at ${LOOPBACK}: ${host}`, async () => {
      setInterfaces(LOOPBACK)
      const node = await listenAt(host)
      try {
        start(node.services.addresses.addressManager)
        assert.equal(monitor.status().isOffline, isOffline)
        setInterfaces(LOOPBACK, '192.168.1.5')
        assert.equal(monitor.status().isOffline, false)
      } finally {
        resetInterfaces()
        await node.stop()
      }
    })
  }
})
