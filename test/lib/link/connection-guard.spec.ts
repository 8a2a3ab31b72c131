import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { CONNECTIONS_PENDING_MAX, CONNECTIONS_PENDING_PER_HOST_MAX } from '../../../lib/base/limits/link.ts'
import { createNode, handler, type SoukNode } from '../../../lib/index.ts'
import type { ConnectionRules } from '../../../lib/link/connection-guard.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type Flood, type FloodInit, flood } from '../../helpers/flood.ts'

const BOUND_MS = 15_000
/**
 * Nodes connect from 127.0.0.1. Linux assigns all of 127.0.0.0/8 to this machine, so that other addresses are other
 * hosts.
 */
const CROWD = '127.0.0.2'

describe('the connections of a node', () => {
  const ended: Array<() => unknown> = []
  afterEach(async () => {
    for (const end of ended.splice(0).reverse()) await end()
  })

  const started = async (options: Parameters<typeof createNode>[0]): Promise<SoukNode> => {
    const node = await createNode(options)
    ended.push(() => node.stop())
    await node.start()
    return node
  }
  /**
   * An owner with few connections. Each loopback address counts as a host. The rate per host is unlimited unless a test
   * sets it.
   */
  const ownerOf = async (connections: ConnectionRules) => {
    const node = await started({ connections: { countsPrivate: true, perHostPerSecond: 1_000, ...connections } })
    await node.souk.serve(
      { name: 'echo', price: '0' },
      handler(() => ({ ok: true }))
    )
    return node
  }
  const crowd = async (at: SoukNode, identities: number, more: Partial<FloodInit> = {}): Promise<Flood> => {
    const all = await flood({ at: at.libp2p.getMultiaddrs(), identities, from: CROWD, ...more })
    ended.push(() => all.stop())
    return all
  }
  const newcomer = (at: SoukNode) => started({ bootstrap: at.libp2p.getMultiaddrs().map(String) })
  const call = async (node: SoukNode) => {
    const { status } = await node.souk.call({ api: 'echo', body: { n: 1 } })
    assert.equal(status, 200)
  }
  const connectionsFrom = (node: SoukNode, host: string) =>
    node.libp2p.getConnections().filter(({ remoteAddr }) => remoteAddr.toString().startsWith(`/ip4/${host}/`)).length
  const settled = (node: SoukNode, most: number) =>
    eventually(`at most ${most} connections`, BOUND_MS, () =>
      node.libp2p.getConnections().length <= most ? true : undefined
    )

  it('limits one host to its share, so a peer from another host can call', async () => {
    const owner = await ownerOf({ connectionsMax: 32, perHostMax: 4 })
    await crowd(owner, 20)
    await settled(owner, 4)
    assert.ok(connectionsFrom(owner, CROWD) > 0)
    await call(await newcomer(owner))
    await crowd(owner, 20)
    await settled(owner, 5)
  })

  for (const holding of ['/souk/call/1.0.0', '/ipfs/ping/1.0.0', '/souk/dev/kad/1.0.0']) {
    it(`counts connections that hold a stream of ${holding} like any other`, async () => {
      const owner = await ownerOf({ connectionsMax: 8, perHostMax: 100 })
      await crowd(owner, 16, { holding, atOnce: 2 })
      await settled(owner, 8)
      await call(await newcomer(owner))
      await settled(owner, 8)
    })
  }

  it('closes the least valuable connection when full, and never a caller’s', async () => {
    const owner = await ownerOf({ connectionsMax: 8, perHostMax: 100 })
    const customer = await newcomer(owner)
    await call(customer)
    const id = customer.libp2p.peerId
    const before = owner.libp2p.getConnections(id)[0]?.id
    await crowd(owner, 30, { atOnce: 2 })
    await settled(owner, 8)
    // Still its first connection, so it was not closed in between.
    assert.equal(owner.libp2p.getConnections(id)[0]?.id, before)
    await call(await newcomer(owner))
    await call(customer)
  })

  it('does not count a caller in its host’s share', async () => {
    const owner = await ownerOf({ connectionsMax: 32, perHostMax: 2 })
    const customer = await newcomer(owner)
    await call(customer)
    const before = owner.libp2p.getConnections(customer.libp2p.peerId)[0]?.id
    await crowd(owner, 8, { from: '127.0.0.1' })
    await settled(owner, 3)
    assert.equal(owner.libp2p.getConnections(customer.libp2p.peerId)[0]?.id, before)
  })

  /** Connects, and says nothing. The sockets that the owner left open. */
  const silent = async (owner: SoukNode, count: number, from: string): Promise<ReadonlySet<Socket>> => {
    const port = Number(/\/tcp\/(\d+)/.exec(String(owner.libp2p.getMultiaddrs()[0]))?.[1])
    const sockets = new Set<Socket>()
    ended.push(() => sockets.forEach((socket) => socket.destroy()))
    for (let each = 0; each < count; each++) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from })
      sockets.add(socket)
      const hungUp = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
      void hungUp.then(() => sockets.delete(socket))
      await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), hungUp])
    }
    return sockets
  }

  it('does not let unfinished handshakes use the places of another host', async () => {
    const owner = await ownerOf({ pendingPerHostMax: 4 })
    const sockets = await silent(owner, 80, CROWD)
    await eventually('all but four hung up on', BOUND_MS, () => (sockets.size <= 4 ? true : undefined))
    assert.equal(sockets.size, 4)
    await call(await newcomer(owner))
    // A rejected connection frees its place.
    sockets.forEach((socket) => socket.destroy())
    const late = await crowd(owner, 1)
    assert.equal(late.refused, 0)
  })

  it('ends an unfinished handshake for each new one, however many hosts have them', async () => {
    const owner = await ownerOf({})
    const hosts = Array.from({ length: CONNECTIONS_PENDING_MAX / CONNECTIONS_PENDING_PER_HOST_MAX }, (_, at) =>
      silent(owner, CONNECTIONS_PENDING_PER_HOST_MAX, `127.0.1.${at + 1}`)
    )
    const sockets = await Promise.all(hosts)
    const left = () => sockets.reduce((sum, { size }) => sum + size, 0)
    assert.equal(left(), CONNECTIONS_PENDING_MAX)
    await call(await newcomer(owner))
    assert.ok(left() < CONNECTIONS_PENDING_MAX)
  })

  it('limits how often one host reconnects, without effect on others', async () => {
    const owner = await ownerOf({ perHostMax: 4, perHostPerSecond: 1 })
    const all = await crowd(owner, 20)
    // The whole share at once, then one more per second.
    assert.ok(all.refused >= 8, `${all.refused} of 20 refused`)
    await call(await newcomer(owner))
    await pause(1_500)
    assert.equal((await crowd(owner, 1)).refused, 0)
  })

  it('does not limit private addresses by default, because a whole LAN may share one', async () => {
    const owner = await started({ connections: { connectionsMax: 32, perHostMax: 2 } })
    const all = await crowd(owner, 12)
    assert.equal(all.refused, 0)
    await eventually('all of them', BOUND_MS, () => (connectionsFrom(owner, CROWD) === 12 ? true : undefined))
  })
})
