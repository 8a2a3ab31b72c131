import assert from 'node:assert/strict'
import type { IdentifyResult, Libp2pEvents } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { sleep } from '../../../lib/base/clock.ts'
import { ADDRESSES_PER_PEER_MAX } from '../../../lib/base/limits/directory.ts'
import {
  CACHED_PEERS_MAX,
  DIAL_ADDRESS_MS,
  JOIN_MS,
  JOINING_MS,
  REJOIN_FIRST_MS,
  REJOIN_MS,
  RETURN_MS
} from '../../../lib/base/limits/link.ts'
import { Neighbours } from '../../../lib/link/neighbours.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
import { idOf, keyOf, memoryDocuments } from '../resolve/fixtures.ts'

describe('Neighbours', () => {
  let clock: ManualClock
  let documents: ReturnType<typeof memoryDocuments>
  let events: TypedEventEmitter<Libp2pEvents>
  let dialled: string[][]
  let connections: number
  let dial: () => Promise<unknown>
  let neighbours: Neighbours
  let ids: string[]
  let served: Set<string>
  let direction: 'inbound' | 'outbound'

  /** Starts on the same documents: this process or a later one. */
  const boot = (bootstrap: readonly string[] = []) => {
    events = new TypedEventEmitter()
    direction = 'inbound'
    dialled = []
    connections = 0
    const connectionManager = {
      getConnections: () => Array.from({ length: connections }),
      openConnection: (addresses: readonly unknown[]) => {
        dialled.push(addresses.map(String))
        return dial()
      }
    } as unknown as ConnectionManager
    const log = defaultLogger().forComponent('test')
    const worth = {
      scores: () => (peer: string) => ({ worth: 0, isBusy: false, usedAt: served.has(peer) ? 0 : undefined }) as const
    }
    neighbours = new Neighbours({ connectionManager, events, clock, documents, bootstrap, worth, log })
  }
  const meet = async (id: string, ...addresses: string[]) => {
    const detail = {
      peerId: id,
      listenAddrs: addresses.map((address) => multiaddr(address)),
      connection: { direction }
    } as unknown as IdentifyResult
    events.dispatchEvent(new CustomEvent('peer:identify', { detail }))
    await settle()
  }
  const kept = async () => (await documents.list('peers')).map(({ key }) => key)

  before(async () => {
    ids = await Promise.all(
      Array.from({ length: CACHED_PEERS_MAX + 2 }, async (_, i) => idOf(await keyOf(`peer ${i}`)))
    )
  })
  beforeEach(() => {
    clock = manualClock()
    documents = memoryDocuments()
    served = new Set()
    dial = async () => {
      connections = 1
    }
    boot()
  })
  afterEach(() => {
    neighbours.stop()
    assert.equal(clock.pending, 0)
  })

  it('joins by the bootstrap peers, each with all its addresses', async () => {
    const [a, b] = ids
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${a}`, `/ip4/127.0.0.1/tcp/2/p2p/${b}`, `/ip4/127.0.0.1/tcp/3/p2p/${a}`])
    await neighbours.start()
    assert.deepEqual(dialled, [
      [`/ip4/127.0.0.1/tcp/1/p2p/${a}`, `/ip4/127.0.0.1/tcp/3/p2p/${a}`],
      [`/ip4/127.0.0.1/tcp/2/p2p/${b}`]
    ])
  })

  it('dials further bootstrap peers at once, and again when no peer is connected', async () => {
    const [a, b] = ids
    const [first, second] = [`/ip4/127.0.0.1/tcp/1/p2p/${a}`, `/ip4/127.0.0.1/tcp/2/p2p/${b}`]
    boot([first])
    await neighbours.start()
    neighbours.addBootstrap([first, second])
    assert.deepEqual(dialled, [[first], [second]])
    connections = 0
    await clock.advance(REJOIN_MS)
    assert.deepEqual(dialled.slice(2), [[first], [second]])
  })

  it('joins by known peers, without any bootstrap', async () => {
    const [a = ''] = ids
    await neighbours.start()
    await meet(a, '/ip4/127.0.0.1/tcp/1', `/ip4/127.0.0.1/tcp/2/p2p/${a}`)
    neighbours.stop()
    boot()
    await neighbours.start()
    assert.deepEqual(dialled, [[`/ip4/127.0.0.1/tcp/1/p2p/${a}`, `/ip4/127.0.0.1/tcp/2/p2p/${a}`]])
  })

  it('offers peers that it dialled: bootstrap peers, then those that called it, also before a restart', async () => {
    const [a = '', b = '', c = '', d = ''] = ids
    const places = [a, b, c, d].map((id, index) => `/ip4/127.0.0.1/tcp/${index + 1}/p2p/${id}`)
    const bootstrap = [places[0]!]
    boot(bootstrap)
    await neighbours.start()
    await meet(d, places[3]!)
    direction = 'outbound'
    await meet(b, places[1]!)
    await clock.advance(1)
    await meet(c, places[2]!)
    const offered = () => neighbours.dialable().map(({ id }) => id)
    assert.deepEqual(offered(), [a, c, b])
    served.add(b)
    assert.deepEqual(offered(), [a, b, c])
    await settle()
    neighbours.stop()
    served.clear()
    boot(bootstrap)
    await neighbours.start()
    assert.deepEqual(offered(), [a, b, c])
  })

  it('retries with growing pauses while it has no peers, and only then', async () => {
    const [a] = ids
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${a}`])
    dial = async () => Promise.reject(new Error('nobody there'))
    await neighbours.start()
    for (const pauseMs of [REJOIN_FIRST_MS, 2 * REJOIN_FIRST_MS, 4 * REJOIN_FIRST_MS]) {
      const before = dialled.length
      await clock.advance(pauseMs - 1)
      assert.equal(dialled.length, before)
      await clock.advance(1)
      assert.equal(dialled.length, before + 1)
    }
    connections = 1
    await clock.advance(2 * REJOIN_MS)
    const before = dialled.length
    await clock.advance(2 * REJOIN_MS)
    assert.equal(dialled.length, before)
    connections = 0
    await clock.advance(REJOIN_MS)
    assert.ok(dialled.length > before)
  })

  it('dials again as soon as a lookup needs a peer, and joins for a while after the first one', async () => {
    const [a] = ids
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${a}`])
    dial = async () => Promise.reject(new Error('nobody there'))
    await neighbours.start()
    await clock.advance(10 * REJOIN_MS)
    const before = dialled.length
    dial = async () => {
      connections = 1
    }
    const connected = neighbours.connected(new AbortController().signal)
    await clock.advance(0)
    await connected
    assert.equal(dialled.length, before + 1)
    assert.equal(neighbours.isJoining, true)
    await clock.advance(JOINING_MS)
    assert.equal(neighbours.isJoining, false)
  })

  describe('with peers that do not refuse, because the network may be slow', () => {
    let isOver: boolean
    const wait = () => {
      isOver = false
      void neighbours.connected(new AbortController().signal).then(() => (isOver = true))
    }
    beforeEach(async () => {
      boot([`/ip4/127.0.0.1/tcp/1/p2p/${ids[0]}`])
      dial = () => sleep(clock, DIAL_ADDRESS_MS).then(() => Promise.reject(new Error('the dial timed out')))
      const starting = neighbours.start()
      wait()
      await clock.advance(DIAL_ADDRESS_MS)
      await starting
    })

    it('waits longer, but only once', async () => {
      await clock.advance(RETURN_MS - DIAL_ADDRESS_MS - 1)
      assert.equal(isOver, false)
      await clock.advance(1)
      assert.equal(isOver, true)
      await clock.advance(DIAL_ADDRESS_MS)
      wait()
      await clock.advance(JOIN_MS)
      assert.equal(isOver, true)
    })

    it('waits no longer once one is connected', async () => {
      assert.equal(isOver, false)
      connections = 1
      events.dispatchEvent(new CustomEvent('connection:open'))
      await settle()
      assert.equal(isOver, true)
      await clock.advance(DIAL_ADDRESS_MS)
    })
  })

  it('does not wait for a peer for long, nor where no other node is known', async () => {
    await neighbours.start()
    await neighbours.connected(new AbortController().signal)
    neighbours.stop()
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${ids[0]}`])
    dial = async () => Promise.reject(new Error('nobody there'))
    await neighbours.start()
    const connected = neighbours.connected(new AbortController().signal)
    await clock.advance(JOIN_MS)
    await connected
    assert.equal(neighbours.isJoining, false)
  })

  it('rejoins soon after it lost its last peer', async () => {
    const [a] = ids
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${a}`])
    await neighbours.start()
    const before = dialled.length
    connections = 0
    events.dispatchEvent(new CustomEvent('connection:close'))
    await clock.advance(REJOIN_FIRST_MS)
    assert.equal(dialled.length, before + 1)
    assert.equal(neighbours.isJoining, true)
  })

  it('expects a peer back for a while after its last connection closed', async () => {
    const [a = ''] = ids
    boot()
    await neighbours.start()
    assert.equal(neighbours.wasConnected(a), false)
    connections = 1
    assert.equal(neighbours.wasConnected(a), true)
    connections = 0
    events.dispatchEvent(new CustomEvent('peer:disconnect', { detail: a }))
    assert.equal(neighbours.wasConnected(a), true)
    await clock.advance(RETURN_MS)
    assert.equal(neighbours.wasConnected(a), false)
  })

  it('does not wait for silent peers if one responds', async () => {
    const [a, b] = ids
    boot([`/ip4/127.0.0.1/tcp/1/p2p/${a}`, `/ip4/127.0.0.1/tcp/2/p2p/${b}`])
    dial = () => (dialled.length === 1 ? new Promise(() => {}) : Promise.resolve())
    await neighbours.start()
    assert.equal(dialled.length, 2)
  })

  it('stores a limited number of addresses per peer, and none of others', async () => {
    const [a = '', b = ''] = ids
    await neighbours.start()
    await meet(a, `/ip4/127.0.0.1/tcp/1/p2p/${b}`)
    assert.deepEqual(await kept(), [])
    await meet(a, ...Array.from({ length: 1_000 }, (_, i) => `/ip4/127.0.0.1/tcp/${i + 1}`))
    const document = JSON.parse((await documents.get('peers', a)) ?? '') as { addresses: string[] }
    assert.equal(document.addresses.length, ADDRESSES_PER_PEER_MAX)
  })

  it('skips stored addresses that do not parse', async () => {
    const [a = ''] = ids
    const good = `/ip4/127.0.0.1/tcp/1/p2p/${a}`
    await neighbours.start()
    await meet(a, '/ip4/127.0.0.1/tcp/1')
    neighbours.stop()
    const stored = (await documents.get('peers', a)) ?? ''
    await documents.put('peers', a, stored.replace(`"${good}"`, `"/dns4/a/zzz/tcp/1/p2p/${a}","${good}"`))
    dialled.splice(0)
    boot()
    await neighbours.start()
    assert.deepEqual(dialled, [[good]])
  })

  it('keeps the relay’s address of a relayed peer', async () => {
    const [a = '', relay = ''] = ids
    await neighbours.start()
    await meet(a, `/ip4/127.0.0.1/tcp/1/p2p/${relay}/p2p-circuit`)
    neighbours.stop()
    boot()
    await neighbours.start()
    assert.deepEqual(dialled, [[`/ip4/127.0.0.1/tcp/1/p2p/${relay}/p2p-circuit/p2p/${a}`]])
  })

  it('stores a limited number of peers, the latest ones, and writes only changes', async () => {
    await neighbours.start()
    for (const id of ids) {
      await clock.advance(1)
      await meet(id, '/ip4/127.0.0.1/tcp/1')
    }
    const all = await kept()
    assert.equal(all.length, CACHED_PEERS_MAX)
    assert.ok(ids.slice(0, 2).every((id) => !all.includes(id)))
    const writes = documents.writes.length
    await meet(ids.at(-1) ?? '', '/ip4/127.0.0.1/tcp/1')
    assert.equal(documents.writes.length, writes)
  })

  it('keeps peers it has dialled when many others connect', async () => {
    await neighbours.start()
    direction = 'outbound'
    const [own = '', ...crowd] = ids
    await meet(own, '/ip4/127.0.0.1/tcp/1')
    direction = 'inbound'
    for (const id of crowd) {
      await clock.advance(1)
      await meet(id, '/ip4/127.0.0.1/tcp/1')
    }
    const all = await kept()
    assert.equal(all.length, CACHED_PEERS_MAX)
    assert.ok(all.includes(own))
  })
})
