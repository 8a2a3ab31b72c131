import assert from 'node:assert/strict'
import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Libp2pEvents, PeerStore } from '@libp2p/interface'
import type { AddressManager, ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { lpStream, streamPair } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import {
  RELAY_CHECK_MS,
  RELAY_RENEWALS_MISSED_MAX,
  RELAY_RESERVE_MS,
  RELAYS_WANTED
} from '../../../../lib/base/limits/reach.ts'
import { RelayedAddresses } from '../../../../lib/link/reach/relayed-addresses.ts'
import { RelayKeeper, type RelayNeed } from '../../../../lib/link/reach/relay-keeper.ts'
import { type ManualClock, manualClock, settle } from '../../../helpers/manual-clock.ts'

/** `HopMessage` with `type = STATUS`, and `OK` or `PERMISSION_DENIED`. */
const OK = Uint8Array.of(8, 2, 40, 100)
const DENIED = Uint8Array.of(8, 2, 40, 0xc9, 1)
const OTHER = '12D3KooWPSgXHiPKLrWrV4E86RhL7atK4MgLrrmsdudu561RHC1G'

describe('RelayKeeper', () => {
  let clock: ManualClock
  let keeper: RelayKeeper
  let asked: number
  let need: RelayNeed
  let searches: number
  let address: string
  /** Further addresses of the relay. */
  let told: string[]
  let hasTransport: boolean
  let announced: RelayedAddresses
  /** Hosts and ports of addresses that are confirmed. libp2p announces no others. */
  let confirmed: Set<string>
  let close: () => void
  /** The relay's response to renewals; undefined for none. */
  let response: Uint8Array | undefined

  const newStream = async () => {
    asked++
    const [ours, theirs] = await streamPair()
    const messages = lpStream(theirs)
    const respond = async (message: Uint8Array) => {
      await messages.read()
      await messages.write(message)
    }
    if (response !== undefined) void respond(response)
    return ours
  }

  const start = async () => {
    clock = manualClock()
    asked = 0
    searches = 0
    response = OK
    confirmed = new Set()
    const events = new TypedEventEmitter<Libp2pEvents>()
    const relay = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    const connect = () =>
      ({
        remotePeer: relay,
        remoteAddr: multiaddr(`${address}/p2p/${relay.toString()}`),
        status: 'open',
        direction: 'outbound',
        newStream
      }) as unknown as Connection
    let connection = connect()
    close = () => {
      const detail = Object.assign(connection, { status: 'closed' as const })
      connection = connect()
      events.dispatchEvent(new CustomEvent('connection:close', { detail }))
    }
    announced = new RelayedAddresses({
      confirmObservedAddr: (each: Multiaddr) => void confirmed.add(placeOf(each)),
      removeObservedAddr: (each: Multiaddr) => void confirmed.delete(placeOf(each))
    } as AddressManager)
    const listeners: RelayedAddresses[] = []
    keeper = new RelayKeeper({
      connectionManager: { getConnections: () => [connection] } as unknown as ConnectionManager,
      transportManager: {
        getTransports: () => [{ listenFilter: (some: Multiaddr[]) => some }],
        getListeners: () => listeners,
        listen: async () => void (hasTransport && listeners.push(announced))
      } as unknown as TransportManager,
      peerStore: {
        get: async () => ({
          protocols: [RELAY_V2_HOP_CODEC],
          addresses: told.map((text) => ({ multiaddr: multiaddr(text) }))
        }),
        all: async () => (searches++, []),
        merge: async () => {}
      } as unknown as PeerStore,
      events,
      bootstrap: [],
      need: () => need,
      onChange: () => {},
      clock,
      log: defaultLogger().forComponent('test')
    })
    keeper.start()
    await clock.advance(1_000)
  }
  beforeEach(async () => {
    need = { relays: RELAYS_WANTED, gaps: [] }
    told = []
    hasTransport = true
    address = '/ip4/11.1.1.1/tcp/443'
    await start()
    assert.equal(keeper.relays.length, 1)
  })
  afterEach(() => keeper.stop())

  const announcedNow = () =>
    announced
      .getAddrs()
      .filter((each) => confirmed.has(placeOf(each)))
      .map(String)
  const nextRenewal = async () => {
    const isAsked = () => asked > 0
    asked = 0
    for (let ms = 0; ms < 2 * RELAY_CHECK_MS && !isAsked(); ms += 1_000) await clock.advance(1_000)
    await settle(50)
  }

  it('renews a reservation every RELAY_CHECK_MS, also while it looks for more relays', async () => {
    await clock.advance(4 * RELAY_CHECK_MS)
    assert.ok(asked >= 4 && asked <= 5, String(asked))
    assert.equal(keeper.relays.length, 1)
  })

  it('keeps a relay that is slow once, because its link carries more than the reservation', async () => {
    response = undefined
    await nextRenewal()
    await clock.advance(RELAY_RESERVE_MS)
    response = OK
    await nextRenewal()
    response = undefined
    await nextRenewal()
    await clock.advance(RELAY_RESERVE_MS)
    assert.equal(keeper.relays.length, 1)
  })

  it('leaves a relay that stays silent', async () => {
    response = undefined
    for (let missed = 0; missed < RELAY_RENEWALS_MISSED_MAX; missed++) {
      assert.equal(announcedNow().length, 1)
      await nextRenewal()
      await clock.advance(RELAY_RESERVE_MS)
    }
    assert.deepEqual([keeper.relays, announcedNow()], [[], []])
  })

  it('leaves a relay that refuses', async () => {
    response = DENIED
    await nextRenewal()
    assert.deepEqual([keeper.relays, announcedNow()], [[], []])
  })

  it('announces the address of the connection, and those that the relay names', async () => {
    const named = (text: string) => {
      const { bytes } = multiaddr(text)
      return [0x12, bytes.length, ...bytes]
    }
    const circuit = `/ip4/11.1.1.9/tcp/1/p2p/${OTHER}/p2p-circuit`
    // Without a host, libp2p would throw.
    const odd = named(`/p2p/${keeper.relays[0] ?? OTHER}`)
    const addresses = [...named(address), ...named('/ip4/11.1.1.1/tcp/443/ws'), ...named(circuit), ...odd]
    response = Uint8Array.of(...OK, 0x1a, addresses.length, ...addresses)
    await nextRenewal()
    const [relay] = keeper.relays
    assert.deepEqual(announcedNow(), [`${address}/p2p/${relay}/p2p-circuit`, `${address}/ws/p2p/${relay}/p2p-circuit`])
    response = OK
    await nextRenewal()
    assert.deepEqual(announcedNow(), [`${address}/p2p/${relay}/p2p-circuit`])
  })

  it('withdraws the addresses when the connection closes, and reserves again at the next one', async () => {
    close()
    assert.deepEqual([keeper.relays, announcedNow()], [[], []])
    await clock.advance(1_000)
    assert.deepEqual([keeper.relays.length, announcedNow().length], [1, 1])
  })

  it('reserves again when the connection closes during a check', async () => {
    response = undefined
    await nextRenewal()
    close()
    response = OK
    await clock.advance(RELAY_RESERVE_MS + 1_000)
    assert.equal(keeper.relays.length, 1)
  })

  it("stops in a node with libp2p's own transport over relays", async () => {
    keeper.stop()
    hasTransport = false
    await start()
    assert.deepEqual([keeper.relays, clock.pending], [[], 0])
  })

  it('reserves a relay for peers that cannot dial this node, only if they can dial the relay', async () => {
    const plain = '/ip4/11.1.1.1/tcp/4402'
    for (const [gap, at, more, held] of [
      ['web', plain, [], 0],
      ['web', '/dns4/node.example/tcp/443/wss', [], 1],
      ['router', plain, [], 1],
      ['ip6', plain, [], 0],
      ['ip6', plain, ['/ip6/2a00:11:1::1/tcp/4402'], 1],
      ['ip6', plain, ['/dns/node.example/tcp/4402'], 1],
      ['ip6', plain, [`/ip6/2a00:11:1::9/tcp/4402/p2p/${OTHER}/p2p-circuit`], 0],
      ['ip4', '/ip6/2a00:11:1::1/tcp/4402', [], 0],
      ['ip4', '/ip6/2a00:11:1::1/tcp/4402', [plain], 1]
    ] as const) {
      keeper.stop()
      need = { relays: 0, gaps: [gap] }
      address = at
      told = [...more]
      await start()
      assert.equal(keeper.relays.length, held, `${gap} ${at} ${more.join()}`)
      // It looks for no others.
      await clock.advance(RELAY_CHECK_MS / 2)
      assert.equal(searches, 0)
    }
  })
})

/** libp2p knows an address by these. */
function placeOf(address: Multiaddr): string {
  const [host, port] = address.getComponents()
  return `${host?.value}-${port?.value}`
}
