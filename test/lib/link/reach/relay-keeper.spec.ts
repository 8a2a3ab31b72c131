import assert from 'node:assert/strict'
import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Libp2pEvents, PeerStore } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { lpStream, streamPair } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import {
  RELAY_CHECK_MS,
  RELAY_RENEWALS_MISSED_MAX,
  RELAY_RESERVE_MS,
  RELAYS_WANTED
} from '../../../../lib/base/limits/reach.ts'
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
  let isAborted: boolean
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
    isAborted = false
    response = OK
    const relay = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    const connection = {
      remotePeer: relay,
      remoteAddr: multiaddr(`${address}/p2p/${relay.toString()}`),
      status: 'open',
      direction: 'outbound',
      newStream,
      abort: () => (isAborted = true)
    } as unknown as Connection
    const held = new Set<string>()
    const reservationStore = { hasReservation: () => held.size > 0 && !isAborted }
    keeper = new RelayKeeper({
      connectionManager: { getConnections: () => (isAborted ? [] : [connection]) } as unknown as ConnectionManager,
      transportManager: {
        getTransports: () => [{ reservationStore }],
        listen: async () => void held.add('relay')
      } as unknown as TransportManager,
      peerStore: {
        get: async () => ({
          protocols: [RELAY_V2_HOP_CODEC],
          addresses: told.map((text) => ({ multiaddr: multiaddr(text) }))
        }),
        all: async () => (searches++, [])
      } as unknown as PeerStore,
      events: new TypedEventEmitter<Libp2pEvents>(),
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
    address = '/ip4/11.1.1.1/tcp/443'
    await start()
    assert.equal(keeper.relays.length, 1)
  })
  afterEach(() => keeper.stop())

  const nextRenewal = async () => {
    const isAsked = () => asked > 0
    asked = 0
    for (let ms = 0; ms < 2 * RELAY_CHECK_MS && !isAsked(); ms += 1_000) await clock.advance(1_000)
    await settle(50)
  }

  it('renews a reservation every RELAY_CHECK_MS, also while it looks for more relays', async () => {
    await clock.advance(4 * RELAY_CHECK_MS)
    assert.ok(asked >= 3 && asked <= 4, String(asked))
    assert.equal(isAborted, false)
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
    assert.equal(isAborted, false)
    assert.equal(keeper.relays.length, 1)
  })

  it('leaves a relay that stays silent', async () => {
    response = undefined
    for (let missed = 0; missed < RELAY_RENEWALS_MISSED_MAX; missed++) {
      assert.equal(isAborted, false)
      await nextRenewal()
      await clock.advance(RELAY_RESERVE_MS)
    }
    assert.equal(isAborted, true)
  })

  it('leaves a relay that refuses', async () => {
    response = DENIED
    await nextRenewal()
    assert.equal(isAborted, true)
    assert.deepEqual(keeper.relays, [])
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
