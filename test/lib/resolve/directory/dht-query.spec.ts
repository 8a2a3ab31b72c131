import assert from 'node:assert/strict'
import type { PeerId, PeerInfo } from '@libp2p/interface'
import type { QueryEvent } from '@libp2p/kad-dht'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { compare } from 'uint8arrays/compare'
import { xor } from 'uint8arrays/xor'
import { sha256, utf8 } from '../../../../lib/base/bytes.ts'
import {
  DHT_ANSWER_MS,
  DHT_ANSWER_MS_MAX,
  DHT_ASKED_AT_ONCE,
  DHT_ASKED_AT_ONCE_MAX,
  DHT_SILENCE_MS_MAX,
  DHT_SILENT_PEERS_MS,
  RECORD_COPIES
} from '../../../../lib/base/limits/directory.ts'
import { type AskPeer, DhtQueries } from '../../../../lib/resolve/directory/dht-query.ts'
import { type ManualClock, manualClock, settle } from '../../../helpers/manual-clock.ts'
import { keyOf } from '../fixtures.ts'

const KEY = utf8('key')

/** A table of peers, and requests that the test responds to. */
class Peers extends EventTarget {
  readonly removed: PeerId[] = []
  readonly asked: PeerId[] = []
  readonly connected = new Set<PeerId>()
  /** Requests that were given up. */
  readonly givenUp: PeerId[] = []
  readonly #open = new Map<PeerId, { resolve: (closer: PeerInfo[]) => void; reject: (error: Error) => void }>()
  readonly #table: readonly PeerId[]

  constructor(table: readonly PeerId[]) {
    super()
    this.#table = table
  }

  get size(): number {
    return this.#table.length
  }

  closestPeers(_key?: Uint8Array, { count } = { count: Infinity }): PeerId[] {
    return this.#table.slice(0, count)
  }

  queueRoutingTableUpdate(): void {}

  async remove(peer: PeerId): Promise<void> {
    this.removed.push(peer)
  }

  readonly ask: AskPeer = async function* (this: Peers, context: { peer: PeerInfo; signal: AbortSignal }) {
    const { id } = context.peer
    const { promise, resolve, reject } = Promise.withResolvers<PeerInfo[]>()
    this.asked.push(id)
    this.#open.set(id, { resolve, reject })
    context.signal.addEventListener('abort', () => {
      if (this.#open.delete(id)) this.givenUp.push(id)
      reject(context.signal.reason as Error)
    })
    if (this.connected.has(id)) yield { name: 'SEND_QUERY', to: id } as unknown as QueryEvent
    yield { name: 'PEER_RESPONSE', from: id, closer: await promise } as unknown as QueryEvent
  }.bind(this)

  async respond(peer: PeerId, closer: readonly PeerId[] = []): Promise<void> {
    const multiaddrs = [multiaddr('/ip4/127.0.0.1/tcp/9')]
    this.#open.get(peer)?.resolve(closer.map((id) => ({ id, multiaddrs })))
    this.#open.delete(peer)
    await settle()
  }

  async fail(peer: PeerId): Promise<void> {
    this.#open.get(peer)?.reject(new Error('no response'))
    await settle()
  }
}

/** Peers in the order of their distance from the key, the nearest first. */
async function someOf(count: number): Promise<PeerId[]> {
  const keys = await Promise.all(Array.from({ length: count }, (_, i) => keyOf(`peer ${i}`)))
  const target = sha256(KEY)
  const far = (id: PeerId) => xor(sha256(id.toMultihash().bytes), target)
  return keys.map(peerIdFromPrivateKey).toSorted((a, b) => compare(far(a), far(b)))
}

describe('a query of the DHT', () => {
  let clock: ManualClock
  let all: PeerId[]
  let self: PeerId

  before(async () => {
    all = await someOf(60)
    self = peerIdFromPrivateKey(await keyOf('self'))
  })

  beforeEach(() => {
    clock = manualClock()
  })

  function queriesOf(peers: Peers): DhtQueries {
    const connectionManager = { isDialable: () => Promise.resolve(true), getConnections: () => [] }
    return new DhtQueries({ self, routingTable: peers, connectionManager, clock })
  }

  /** Starts a query. Its result has the peers that responded, in their order. */
  function start(queries: DhtQueries, peers: Peers) {
    const responded: PeerId[] = []
    const run = async () => {
      for await (const event of queries.run(KEY, peers.ask))
        if (event.name === 'PEER_RESPONSE') responded.push(event.from)
    }
    return { responded, ended: run() }
  }

  it('asks a few at once, and further ones in place of the silent', async () => {
    const peers = new Peers(all.slice(0, RECORD_COPIES))
    const { responded, ended } = start(queriesOf(peers), peers)
    await settle()
    assert.deepEqual(peers.asked, all.slice(0, DHT_ASKED_AT_ONCE))
    await clock.advance(DHT_SILENCE_MS_MAX)
    assert.ok(peers.asked.length >= 2 * DHT_ASKED_AT_ONCE)
    // Late responses count.
    for (const peer of all.slice(0, RECORD_COPIES)) await peers.respond(peer)
    await ended
    assert.deepEqual(responded, all.slice(0, RECORD_COPIES))
  })

  it('asks a limited number that do not respond', async () => {
    const [first, ...others] = all as [PeerId, ...PeerId[]]
    const peers = new Peers([first, ...others.slice(30, 39)])
    const { ended } = start(queriesOf(peers), peers)
    await settle()
    await peers.respond(first, others.slice(0, RECORD_COPIES))
    await clock.advance(DHT_ANSWER_MS - 1)
    assert.equal(peers.asked.length, 1 + DHT_ASKED_AT_ONCE_MAX)
    for (let i = 0; i < peers.asked.length; i++) await peers.fail(peers.asked[i] as PeerId)
    await ended
    assert.equal(new Set(peers.asked).size, 2 * RECORD_COPIES)
  })

  it('asks further peers of its own table if too few respond', async () => {
    const peers = new Peers(all.slice(0, 2 * RECORD_COPIES))
    const { responded, ended } = start(queriesOf(peers), peers)
    await settle()
    for (const peer of all.slice(0, RECORD_COPIES)) await peers.fail(peer)
    for (const peer of all.slice(RECORD_COPIES, 2 * RECORD_COPIES)) await peers.respond(peer)
    await ended
    assert.deepEqual(responded, all.slice(RECORD_COPIES, 2 * RECORD_COPIES))
  })

  it('asks as many more peers as nearer ones were silent', async () => {
    const peers = new Peers(all.slice(0, RECORD_COPIES))
    const { responded, ended } = start(queriesOf(peers), peers)
    await settle()
    const [dead, live] = [all.slice(0, 3), all.slice(3, 2 * RECORD_COPIES)]
    for (const peer of dead) await peers.fail(peer)
    for (const peer of live) await peers.respond(peer, all.slice(RECORD_COPIES, 2 * RECORD_COPIES))
    await ended
    const wanted = RECORD_COPIES + dead.length
    assert.deepEqual(responded.slice(0, wanted), live.slice(0, wanted))
    assert.ok(responded.length < wanted + DHT_ASKED_AT_ONCE, `${responded.length} responded`)
  })

  /** Runs a query to its end. Some peers cannot be connected to, the others respond. Returns the peers that it asked at first. */
  async function complete(queries: DhtQueries, peers: Peers, dead: readonly PeerId[] = []): Promise<PeerId[]> {
    const { ended } = start(queries, peers)
    await settle()
    const atFirst = [...peers.asked]
    for (const peer of dead) await peers.fail(peer)
    const live = peers.closestPeers()
    // Twice, because those that failed in an earlier query are asked last.
    for (const peer of [...live, ...live]) await peers.respond(peer)
    await ended
    return atFirst
  }

  it('forgets peers that cannot be connected to, and asks them last in the next query', async () => {
    const table = all.slice(0, RECORD_COPIES)
    const peers = new Peers(table)
    const queries = queriesOf(peers)
    const dead = table.slice(0, DHT_ASKED_AT_ONCE)
    await complete(queries, peers, dead)
    assert.deepEqual(peers.removed, dead)
    const next = await complete(queries, new Peers(table))
    assert.deepEqual(next, table.slice(DHT_ASKED_AT_ONCE, 2 * DHT_ASKED_AT_ONCE))
  })

  it('tries a silent peer again after a while', async () => {
    const peers = new Peers(all.slice(0, RECORD_COPIES))
    const queries = queriesOf(peers)
    const [nearest] = all as [PeerId]
    await complete(queries, peers, [nearest])
    await clock.advance(DHT_SILENT_PEERS_MS)
    const next = await complete(queries, new Peers(peers.closestPeers()))
    assert.equal(next[0], nearest)
  })

  it('prefers the peers that others named to those of a peer that names dead ones', async () => {
    const ghosts = all.slice(0, RECORD_COPIES)
    const live = all.slice(20, 25)
    const [hostile, honest] = all.slice(40) as [PeerId, PeerId]
    const peers = new Peers([hostile, honest])
    const { responded, ended } = start(queriesOf(peers), peers)
    await settle()
    await peers.respond(hostile, ghosts)
    await peers.respond(honest, live)
    await clock.advance(2 * DHT_SILENCE_MS_MAX)
    const [nearest] = live as [PeerId]
    const before = peers.asked.slice(0, peers.asked.indexOf(nearest)).filter((peer) => ghosts.includes(peer))
    assert.ok(peers.asked.includes(nearest) && before.length < ghosts.length, `${before.length} ghosts came first`)
    for (const peer of live) await peers.respond(peer)
    for (let i = 0; i < peers.asked.length; i++) await peers.fail(peers.asked[i] as PeerId)
    await ended
    assert.deepEqual(new Set(responded), new Set([hostile, honest, ...live]))
  })

  it('gives a peer up that cannot be dialled, and waits longer for connected ones while none responds', async () => {
    const [dead, ...connected] = all.slice(0, DHT_ASKED_AT_ONCE) as [PeerId, ...PeerId[]]
    const peers = new Peers([dead, ...connected])
    for (const peer of connected) peers.connected.add(peer)
    const { responded, ended } = start(queriesOf(peers), peers)
    await clock.advance(DHT_ANSWER_MS)
    assert.deepEqual(peers.givenUp, [dead])
    await clock.advance(DHT_ANSWER_MS_MAX - DHT_ANSWER_MS)
    assert.deepEqual(peers.givenUp, [dead, ...connected])
    await ended
    assert.deepEqual(responded, [])
  })

  it('does not wait longer for silent peers where others respond fast', async () => {
    const [fast, ...silent] = all.slice(0, DHT_ASKED_AT_ONCE) as [PeerId, ...PeerId[]]
    const peers = new Peers([fast, ...silent])
    for (const peer of [fast, ...silent]) peers.connected.add(peer)
    const { ended } = start(queriesOf(peers), peers)
    await settle()
    await peers.respond(fast)
    await clock.advance(DHT_ANSWER_MS)
    await ended
    assert.deepEqual(peers.givenUp, silent)
  })

  it('gives dials a few of the round trips that responses take', async () => {
    const [first, far] = all as [PeerId, PeerId]
    const peers = new Peers([first])
    peers.connected.add(first)
    const { responded, ended } = start(queriesOf(peers), peers)
    await clock.advance(DHT_ANSWER_MS_MAX / 4)
    await peers.respond(first, [far])
    await clock.advance(DHT_ANSWER_MS_MAX - 1)
    await peers.respond(far)
    await ended
    assert.deepEqual(responded, [first, far])
  })

  it('ends with the reason of its signal', async () => {
    const peers = new Peers(all.slice(0, RECORD_COPIES))
    const stop = new AbortController()
    const events = queriesOf(peers).run(KEY, peers.ask, stop.signal)
    const next = events.next()
    await settle()
    stop.abort(new Error('enough'))
    await assert.rejects(next, /enough/)
  })
})
