import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Connection, Libp2pEvents } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import { LINK_PROBE_MS } from '../../../../lib/base/limits/link.ts'
import {
  KEPT_LINK_RETRY_FIRST_MS,
  KEPT_LINK_RETRY_MS,
  KEPT_LINK_SLOW_MS,
  KEPT_LINKS_CHECK_MS,
  KEPT_LINKS_WANTED,
  REACH_SETTLE_MS
} from '../../../../lib/base/limits/reach.ts'
import { LinkKeeper } from '../../../../lib/link/reach/link-keeper.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'

describe('LinkKeeper', () => {
  const names = Array.from({ length: KEPT_LINKS_WANTED + 2 }, (_, index) => `peer${index}`)
  let clock: ManualClock
  let events: TypedEventEmitter<Libp2pEvents>
  let linked: Map<string, Connection>
  let dialled: string[]
  let offline: Set<string>
  let isWanted: boolean
  let isBehindRouter: boolean
  let pinged: string[]
  /** Whether all links are cut without a word. */
  let isCut: boolean
  let keeper: LinkKeeper

  const connectionTo = (name: string) => {
    const connection = {
      status: 'open',
      direction: 'outbound',
      remotePeer: name,
      remoteAddr: addressOf(name),
      streams: [],
      muxer: {
        async ping({ signal }: { readonly signal: AbortSignal }) {
          pinged.push(name)
          if (isCut) await once(signal, 'abort')
          signal.throwIfAborted()
        }
      },
      abort() {
        connection.status = 'aborted'
        lose(name)
      }
    }
    return connection as unknown as Connection
  }
  const addressOf = (name: string) => multiaddr(`/ip4/11.1.1.1/tcp/${1 + names.indexOf(name)}`)
  const nameAt = ([address]: readonly Multiaddr[]) => names.find((name) => addressOf(name).equals(address!))!
  const lose = (name: string) => {
    const detail = linked.get(name)
    linked.delete(name)
    events.dispatchEvent(new CustomEvent('connection:close', { detail: detail! }))
  }

  beforeEach(() => {
    clock = manualClock()
    events = new TypedEventEmitter()
    linked = new Map()
    dialled = []
    pinged = []
    isCut = false
    offline = new Set()
    isWanted = true
    isBehindRouter = false
    const connectionManager = {
      getConnections: () => [...linked.values()],
      async openConnection(addresses: readonly Multiaddr[]) {
        const name = nameAt(addresses)
        dialled.push(name)
        if (offline.has(name)) throw new Error('nobody there')
        linked.set(name, connectionTo(name))
      }
    } as unknown as ConnectionManager
    keeper = new LinkKeeper({
      connectionManager,
      events,
      candidates: () => names.map((id) => ({ id, addresses: [addressOf(id).toString()] })),
      isWanted: () => isWanted,
      isBehindRouter: () => isBehindRouter,
      clock,
      log: defaultLogger().forComponent('test')
    })
    keeper.start()
  })
  afterEach(() => {
    keeper.stop()
    assert.equal(clock.pending, 0)
  })

  it('links to the best peers, only while other nodes cannot dial this one', async () => {
    isWanted = false
    await clock.advance(KEPT_LINKS_CHECK_MS)
    assert.deepEqual(dialled, [])
    isWanted = true
    await clock.advance(KEPT_LINKS_CHECK_MS)
    assert.deepEqual([...linked.keys()], names.slice(0, KEPT_LINKS_WANTED))
    await clock.advance(KEPT_LINKS_CHECK_MS)
    assert.equal(dialled.length, KEPT_LINKS_WANTED)
  })

  it('dials a lost peer again, replaces it while it is offline, and returns to it', async () => {
    await clock.advance(KEPT_LINKS_CHECK_MS)
    const [first = ''] = names
    lose(first)
    await clock.advance(REACH_SETTLE_MS)
    assert.ok(linked.has(first))

    offline.add(first)
    lose(first)
    await clock.advance(REACH_SETTLE_MS)
    assert.ok(linked.size === KEPT_LINKS_WANTED && !linked.has(first))
    offline.delete(first)
    await clock.advance(KEPT_LINK_RETRY_FIRST_MS + 2 * KEPT_LINKS_CHECK_MS)
    assert.ok(linked.has(first))
  })

  it('pings one link after the other behind a router, and dials all again after the router cut them', async () => {
    await clock.advance(2 * KEPT_LINKS_CHECK_MS)
    assert.deepEqual(pinged, [])
    isBehindRouter = true
    for (let check = 0; check <= KEPT_LINKS_WANTED; check++) await clock.advance(KEPT_LINKS_CHECK_MS)
    const kept = names.slice(0, KEPT_LINKS_WANTED)
    assert.deepEqual(pinged, [...kept, names[0]])

    isCut = true
    dialled = []
    await clock.advance(KEPT_LINKS_CHECK_MS + KEPT_LINK_SLOW_MS + LINK_PROBE_MS)
    isCut = false
    await clock.advance(REACH_SETTLE_MS)
    assert.deepEqual(dialled.toSorted(), kept)
  })

  it('dials an offline peer ever more rarely', async () => {
    const [first = ''] = names
    offline.add(first)
    const dials = async (ms: number) => {
      const before = dialled.filter((name) => name === first).length
      await clock.advance(ms)
      return dialled.filter((name) => name === first).length - before
    }
    const early = await dials(KEPT_LINK_RETRY_MS)
    const late = await dials(KEPT_LINK_RETRY_MS)
    assert.ok(early >= 5, String(early))
    assert.ok(late <= 2, String(late))
  })
})
