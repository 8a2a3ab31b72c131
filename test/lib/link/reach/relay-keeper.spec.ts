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
import { RELAY_CHECK_MS, RELAY_RENEWALS_MISSED_MAX, RELAY_RESERVE_MS } from '../../../../lib/base/limits/reach.ts'
import { RelayKeeper, type RelayNeed } from '../../../../lib/link/reach/relay-keeper.ts'
import { type ManualClock, manualClock, settle } from '../../../helpers/manual-clock.ts'

/** `HopMessage` with `type = STATUS`, and `OK` or `PERMISSION_DENIED`. */
const OK = Uint8Array.of(8, 2, 40, 100)
const DENIED = Uint8Array.of(8, 2, 40, 0xc9, 1)

describe('RelayKeeper', () => {
  let clock: ManualClock
  let keeper: RelayKeeper
  let asked: number
  let need: RelayNeed
  let searches: number
  let address: string
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
        get: async () => ({ protocols: [RELAY_V2_HOP_CODEC] }),
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
    need = 'any'
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

  it('reserves a relay at a port of the web for a node that peers can dial at another port', async () => {
    for (const [at, held] of [
      ['/ip4/11.1.1.1/tcp/4402', 0],
      ['/dns4/node.example/tcp/443/wss', 1]
    ] as const) {
      keeper.stop()
      need = 'web'
      address = at
      await start()
      assert.equal(keeper.relays.length, held, at)
      // It looks for no others.
      await clock.advance(RELAY_CHECK_MS / 2)
      assert.equal(searches, 0)
    }
  })
})
