import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Connection } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { LOOKUP_MS } from '../../../lib/base/limits/directory.ts'
import {
  LINK_PROBE_MS,
  NEIGHBOURS_CHECK_MS,
  NEIGHBOURS_MIN,
  NEIGHBOURS_SEARCH_FIRST_MS,
  NEIGHBOURS_SEARCH_MS
} from '../../../lib/base/limits/link.ts'
import { systemRandom } from '../../../lib/base/random.ts'
import { MeshKeeper } from '../../../lib/link/mesh-keeper.ts'
import { announcementTopic } from '../../../lib/link/souk-gossip.ts'
import { createTestnet } from '../../../lib/testing/testnet.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

describe('MeshKeeper', () => {
  const names = Array.from({ length: 2 * NEIGHBOURS_MIN }, (_, index) => `peer${index}`)
  let clock: ManualClock
  /** Connected peers, and those of them that send announcements. */
  let connected: Map<string, Connection>
  let neighbours: Set<string>
  let dialled: string[]
  let pinged: string[]
  let reopened: string[]
  let silent: Set<string>
  let explored: number
  let explore: (signal: AbortSignal) => Promise<void>
  let keeper: MeshKeeper

  const addressOf = (name: string) => multiaddr(`/ip4/11.1.1.1/tcp/${1 + names.indexOf(name)}`)
  const connect = (name: string) => {
    const connection = {
      status: 'open',
      remotePeer: name,
      streams: [],
      muxer: {
        async ping({ signal }: { readonly signal: AbortSignal }) {
          pinged.push(name)
          if (silent.has(name)) await once(signal, 'abort')
          signal.throwIfAborted()
        }
      },
      abort() {
        connection.status = 'aborted'
        connected.delete(name)
      }
    }
    connected.set(name, connection as unknown as Connection)
  }
  const meet = (...met: readonly string[]) => {
    for (const name of met) {
      connect(name)
      neighbours.add(name)
    }
  }

  beforeEach(() => {
    clock = manualClock()
    connected = new Map()
    neighbours = new Set()
    dialled = []
    pinged = []
    reopened = []
    silent = new Set()
    explored = 0
    explore = async () => {}
    const connectionManager = {
      getConnections: () => [...connected.values()],
      async openConnection([address]: readonly Multiaddr[]) {
        const name = names.find((each) => addressOf(each).equals(address!))!
        dialled.push(name)
        if (silent.has(name)) throw new Error('nobody there')
        meet(name)
      }
    } as unknown as ConnectionManager
    keeper = new MeshKeeper({
      connectionManager,
      gossip: {
        get neighbours() {
          return [...neighbours]
        },
        async reopen({ remotePeer }) {
          reopened.push(remotePeer.toString())
        }
      },
      candidates: () => names.map((id) => ({ id, addresses: [addressOf(id).toString()] })),
      explore: async (signal) => {
        explored++
        await explore(signal)
      },
      clock,
      random: systemRandom,
      log: defaultLogger().forComponent('test')
    })
    keeper.start()
  })
  afterEach(async () => {
    keeper.stop()
    // Pings that run have a timer of their own.
    await clock.advance(LINK_PROBE_MS)
    assert.equal(clock.pending, 0)
  })

  it('dials as many known peers as neighbours are missing', async () => {
    meet('peer0', 'peer1')
    await clock.advance(NEIGHBOURS_CHECK_MS)
    assert.equal(neighbours.size, NEIGHBOURS_MIN)
    assert.equal(dialled.length, NEIGHBOURS_MIN - 2)
    assert.deepEqual(
      dialled.filter((name) => ['peer0', 'peer1'].includes(name)),
      []
    )
    assert.equal(explored, 1)
  })

  it('does nothing with enough of them', async () => {
    meet(...names.slice(0, NEIGHBOURS_MIN))
    await clock.advance(NEIGHBOURS_SEARCH_MS)
    assert.deepEqual([dialled, pinged, explored], [[], [], 0])
  })

  it('explores the network where all known peers are gone', async () => {
    silent = new Set(names)
    explore = async () => meet('stranger')
    await clock.advance(NEIGHBOURS_CHECK_MS)
    assert.deepEqual([...neighbours], ['stranger'])
  })

  it('asks connected peers for announcements again, and disconnects from dead ones', async () => {
    meet('peer0')
    connect('peer1')
    connect('peer2')
    silent = new Set(names.slice(2))
    await clock.advance(NEIGHBOURS_CHECK_MS)
    assert.deepEqual(pinged, ['peer1', 'peer2'])
    assert.deepEqual(reopened, ['peer1'])
    await clock.advance(LINK_PROBE_MS)
    assert.deepEqual([...connected.keys()], ['peer0', 'peer1'])
    assert.ok(!reopened.includes('peer2'))
  })

  it('searches less and less often in vain, and again soon after a neighbour left', async () => {
    silent = new Set(names.slice(1))
    meet('peer0')
    const searches = async (ms: number) => {
      const before = explored
      await clock.advance(ms)
      return explored - before
    }
    assert.equal(await searches(NEIGHBOURS_CHECK_MS), 1)
    assert.equal(await searches(3 * NEIGHBOURS_SEARCH_FIRST_MS + 2 * NEIGHBOURS_CHECK_MS), 2)
    await clock.advance(3 * NEIGHBOURS_SEARCH_MS)
    assert.equal(await searches(3 * NEIGHBOURS_SEARCH_MS), 3)
    neighbours.delete('peer0')
    assert.equal(await searches(2 * NEIGHBOURS_CHECK_MS), 1)
  })

  it('ends a search that takes too long, and one that fails', async () => {
    silent = new Set(names)
    explore = async (signal) => {
      await once(signal, 'abort')
      throw new Error('the query failed')
    }
    await clock.advance(NEIGHBOURS_CHECK_MS + LOOKUP_MS)
    explore = async () => meet('stranger')
    await clock.advance(NEIGHBOURS_CHECK_MS + NEIGHBOURS_SEARCH_FIRST_MS)
    assert.equal(explored, 2)
    assert.deepEqual([...neighbours], ['stranger'])
  })

  it('ends a search when it stops', async () => {
    let isEnded = false
    explore = async (signal) => {
      await once(signal, 'abort')
      isEnded = true
    }
    await clock.advance(NEIGHBOURS_CHECK_MS)
    keeper.stop()
    await settle()
    assert.ok(isEnded)
  })
})

describe('a node whose streams for announcements failed', () => {
  it('opens them again, in both directions', async () => {
    const testnet = await createTestnet()
    try {
      const [first, second] = testnet.nodes
      const topic = announcementTopic('testnet')
      const neighbours = () => testnet.nodes.map(({ libp2p }) => libp2p.services.pubsub.getSubscribers(topic).length)
      await eventually('the first announcements', 5_000, () => (neighbours().join() === '1,1' ? true : undefined))
      const streams = second!.libp2p.getConnections(first!.libp2p.peerId).flatMap((connection) => connection.streams)
      const failed = streams.filter(({ protocol }) => first!.libp2p.services.pubsub.protocols.includes(protocol))
      for (const stream of failed) stream.abort(new Error('this stream failed'))
      await eventually('the loss', 5_000, () => (neighbours().join() === '1,1' ? undefined : true))
      await eventually('announcements again', 15_000, () => (neighbours().join() === '1,1' ? true : undefined))
    } finally {
      await testnet.stop()
    }
  })
})
