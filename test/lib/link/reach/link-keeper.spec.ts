import assert from 'node:assert/strict'
import type { Libp2pEvents } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import {
  KEPT_LINK_RETRY_FIRST_MS,
  KEPT_LINK_RETRY_MS,
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
  let linked: string[]
  let dialled: string[]
  let offline: Set<string>
  let isWanted: boolean
  let keeper: LinkKeeper

  const connectionTo = (name: string) => ({ status: 'open', remotePeer: name, remoteAddr: addressOf(name) })
  const addressOf = (name: string) => multiaddr(`/ip4/11.1.1.1/tcp/${1 + names.indexOf(name)}`)
  const nameAt = ([address]: readonly Multiaddr[]) => names.find((name) => addressOf(name).equals(address!))!
  const lose = (name: string) => {
    linked = linked.filter((each) => each !== name)
    events.dispatchEvent(new CustomEvent('connection:close', { detail: connectionTo(name) }))
  }

  beforeEach(() => {
    clock = manualClock()
    events = new TypedEventEmitter()
    linked = []
    dialled = []
    offline = new Set()
    isWanted = true
    const connectionManager = {
      getConnections: () => linked.map(connectionTo),
      async openConnection(addresses: readonly Multiaddr[]) {
        const name = nameAt(addresses)
        dialled.push(name)
        if (offline.has(name)) throw new Error('nobody there')
        linked.push(name)
      }
    } as unknown as ConnectionManager
    keeper = new LinkKeeper({
      connectionManager,
      events,
      candidates: () => names.map((id) => ({ id, addresses: [addressOf(id).toString()] })),
      isWanted: () => isWanted,
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
    assert.deepEqual(linked, names.slice(0, KEPT_LINKS_WANTED))
    await clock.advance(KEPT_LINKS_CHECK_MS)
    assert.equal(dialled.length, KEPT_LINKS_WANTED)
  })

  it('dials a lost peer again, replaces it while it is offline, and returns to it', async () => {
    await clock.advance(KEPT_LINKS_CHECK_MS)
    const [first = ''] = names
    lose(first)
    await clock.advance(REACH_SETTLE_MS)
    assert.ok(linked.includes(first))

    offline.add(first)
    lose(first)
    await clock.advance(REACH_SETTLE_MS)
    assert.ok(linked.length === KEPT_LINKS_WANTED && !linked.includes(first))
    offline.delete(first)
    await clock.advance(KEPT_LINK_RETRY_FIRST_MS + 2 * KEPT_LINKS_CHECK_MS)
    assert.ok(linked.includes(first))
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
