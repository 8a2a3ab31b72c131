import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PeerDiscoveryEvents, PeerId } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { LAN_DIAL_PAUSE_MS, LAN_DIALS_AT_ONCE } from '../../../lib/base/limits/link.ts'
import { lanDiscovery, type LanDiscoveryInit } from '../../../lib/link/lan-discovery.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'

const newPeer = async (): Promise<PeerId> => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))

/** Responses of any machine on the LAN, and the dials that they cause. */
async function lanBench() {
  const responses = Object.assign(new TypedEventEmitter<PeerDiscoveryEvents>(), { start() {}, stop() {} })
  const clock = manualClock()
  const dials: string[][] = []
  const ends: Array<() => void> = []
  const tags: unknown[] = []
  const mdns = ((init: { serviceTag: string }) => {
    tags.push(init.serviceTag)
    return () => responses
  }) as unknown as LanDiscoveryInit['mdns']
  const self = await newPeer()
  const components = {
    peerId: self,
    logger: defaultLogger(),
    addressManager: {},
    connectionManager: {
      getConnections: () => [],
      openConnection: (addresses: readonly unknown[]) => {
        dials.push(addresses.map(String))
        return new Promise<void>((resolve) => ends.push(resolve))
      }
    }
  } as unknown as Parameters<ReturnType<typeof lanDiscovery>>[0]
  const service = lanDiscovery({ mdns, network: 'bazaar', clock })(components)
  await service.start()
  return {
    self,
    clock,
    dials,
    tags,
    service,
    end: async () => {
      for (const end of ends.splice(0)) end()
      await settle()
    },
    respond: (id: PeerId, ...addresses: string[]) =>
      responses.safeDispatchEvent('peer', { detail: { id, multiaddrs: addresses.map((each) => multiaddr(each)) } })
  }
}

describe('peers on the LAN', () => {
  it('are dialled at their private addresses, and proved by their id', async () => {
    const { respond, dials, tags } = await lanBench()
    const id = await newPeer()
    respond(id, '/ip4/127.0.0.1/tcp/4402', '/ip4/10.0.0.5/tcp/4402', '/ip4/8.8.8.8/tcp/53')
    assert.deepEqual(dials, [[`/ip4/10.0.0.5/tcp/4402/p2p/${id.toString()}`]])
    assert.match(String(tags[0]), /^_souk-[\da-f]{16}\._udp\.local$/)
  })

  it('cannot make a node dial public hosts, itself, or its own machine', async () => {
    const { respond, dials, self } = await lanBench()
    respond(self, '/ip4/10.0.0.5/tcp/4402')
    for (const address of [
      '/ip4/8.8.8.8/tcp/53',
      '/ip4/127.0.0.1/tcp/22',
      '/ip6/::1/tcp/22',
      '/dns4/example.com/tcp/80'
    ])
      respond(await newPeer(), address)
    respond(await newPeer())
    assert.deepEqual(dials, [])
  })

  it('cannot make a node scan ports: few dials at once, and each peer after a pause', async () => {
    const { respond, dials, clock, end } = await lanBench()
    const id = await newPeer()
    for (let port = 1; port < 100; port++) respond(id, `/ip4/10.0.0.5/tcp/${port}`)
    assert.equal(dials.length, 1)
    for (let port = 1; port < 100; port++) respond(await newPeer(), `/ip4/10.0.0.5/tcp/${port}`)
    assert.equal(dials.length, LAN_DIALS_AT_ONCE)
    await end()
    respond(id, '/ip4/10.0.0.5/tcp/4402')
    assert.equal(dials.length, LAN_DIALS_AT_ONCE)
    await clock.advance(LAN_DIAL_PAUSE_MS)
    respond(id, '/ip4/10.0.0.5/tcp/4402')
    assert.equal(dials.length, LAN_DIALS_AT_ONCE + 1)
  })

  it('are not dialled after the node has stopped', async () => {
    const { respond, dials, service } = await lanBench()
    await service.stop()
    respond(await newPeer(), '/ip4/10.0.0.5/tcp/4402')
    assert.deepEqual(dials, [])
  })
})
