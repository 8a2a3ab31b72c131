import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import { RELAY_V2_HOP_CODEC, RELAY_V2_STOP_CODEC } from '@libp2p/circuit-relay-v2'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Connection, Stream } from '@libp2p/interface'
import type { TransportManager } from '@libp2p/interface-internal'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { byteStream, lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { systemClock } from '../../../../lib/base/clock.ts'
import { RELAY_CIRCUIT_BYTES_MAX } from '../../../../lib/base/limits/reach.ts'
import type { PeerAddress } from '../../../../lib/interface/link.ts'
import { eagerTransport } from '../../../../lib/link/eager-select.ts'
import { Libp2pLink, type LinkComponents } from '../../../../lib/link/libp2p-link.ts'
import { dialStep } from '../../../../lib/link/reach/dial-step.ts'
import { ANY_RELAY, RelayedAddresses } from '../../../../lib/link/reach/relayed-addresses.ts'
import { soukRelay } from '../../../../lib/link/reach/relay-policy.ts'
import { reservePlace } from '../../../../lib/link/reach/reserve-place.ts'
import { soukCircuits } from '../../../../lib/link/reach/souk-circuits.ts'
import { eventually } from '../../../helpers/eventually.ts'

const ECHO_PROTOCOL = '/test/echo/1.0.0'
const LINES = '\u0013/multistream/1.0.0\n\u0007/noise\n'
/** A length and an ephemeral key. */
const NOISE_BYTES = 34
/** `HopMessage` with `type = STATUS` and `CONNECTION_FAILED`. */
const FAILED = Uint8Array.of(8, 2, 40, 0xcb, 1)
/** `StopMessage` with `type = STATUS` and `OK`. */
const STOP_OK = [8, 1, 32, 100]
const MANY_BYTES = 64 * 1_024

const nodeAt = (listen: string[]) =>
  createLibp2p({
    addresses: { listen },
    transports: [tcp(), eagerTransport(soukCircuits())],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionGater: { denyDialMultiaddr: () => false },
    services: {
      identify: identify(),
      relay: soukRelay({ clock: systemClock }),
      listeners: ({ transportManager }: { readonly transportManager: TransportManager }) => ({
        all: () => transportManager.getListeners()
      }),
      link: (components: LinkComponents) => new Libp2pLink(components, systemClock)
    }
  })
type TestNode = Awaited<ReturnType<typeof nodeAt>>

const listenerOf = ({ services }: TestNode): RelayedAddresses =>
  services.listeners.all().find((each) => each instanceof RelayedAddresses) ?? assert.fail('the node does not listen')

const over = (relay: TestNode): string => `${relay.getMultiaddrs().join()}/p2p-circuit`

describe('circuits over a relay', () => {
  let relay: TestNode
  let consumer: TestNode
  beforeEach(async () => {
    relay = await nodeAt(['/ip4/127.0.0.1/tcp/0'])
    consumer = await nodeAt([])
  })
  afterEach(async () => {
    await Promise.all([consumer.stop(), relay.stop()])
  })

  /** The address of an unknown peer at a relay that responds as told. */
  const addressAt = async (respond: (stream: Stream) => Promise<void>) => {
    await relay.unhandle(RELAY_V2_HOP_CODEC)
    await relay.handle(RELAY_V2_HOP_CODEC, respond)
    const peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
    return multiaddr(`${over(relay)}/p2p/${peer.toString()}`)
  }

  it('carry the handshake before the relay has responded, and name a refusal', async () => {
    let early = ''
    const address = await addressAt(async (stream) => {
      const messages = lpStream(stream)
      await messages.read()
      const bytes = byteStream(messages.unwrap())
      early = Buffer.from((await bytes.read({ bytes: LINES.length + NOISE_BYTES })).subarray()).toString('latin1')
      await lpStream(bytes.unwrap()).write(FAILED)
    })
    const error: unknown = await consumer.dial(address).catch((reason: unknown) => reason)
    assert.match(String(error), /refused with status 203/)
    assert.equal(dialStep(error, [address]), 'dial_relay')
    assert.equal(early.slice(0, LINES.length), LINES)
  })

  for (const [what, respond] of [
    ['closes', (stream: Stream) => stream.close()],
    ['sends no message', (stream: Stream) => lpStream(stream).write(new Uint8Array(64).fill(255))],
    ['sends too much', (stream: Stream) => lpStream(stream).write(new Uint8Array(MANY_BYTES))]
  ] as const) {
    it(`fail where the relay ${what}, and its own connection stays`, async () => {
      const address = await addressAt(respond)
      await assert.rejects(consumer.dial(address))
      assert.equal(consumer.getConnections(relay.peerId).length, 1)
    })
  }

  it('come from any peer, which gets no reservation and no announced address for it', async () => {
    let reservations = 0
    await relay.unhandle(RELAY_V2_HOP_CODEC)
    await relay.handle(RELAY_V2_HOP_CODEC, async (stream) => {
      reservations++
      await stream.close()
    })
    await consumer.dial(relay.getMultiaddrs())
    const connection = await eventually('the connection', 5_000, () => relay.getConnections(consumer.peerId)[0])
    const stream = await connection.newStream(RELAY_V2_STOP_CODEC)
    const { bytes } = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toMultihash()
    const messages = lpStream(stream)
    await messages.write(Uint8Array.of(8, 0, 18, bytes.length + 2, 10, bytes.length, ...bytes))
    assert.deepEqual([...(await messages.read()).subarray()], STOP_OK)
    stream.abort(new Error('the test ends'))
    assert.deepEqual([reservations, consumer.getMultiaddrs()], [0, []])
  })

  describe('to an owner with a reservation', () => {
    let owner: TestNode
    let to: PeerAddress
    /** Circuits to the owner that were opened. */
    let opened: Connection[]

    beforeEach(async () => {
      owner = await nodeAt([ANY_RELAY.toString()])
      owner.services.link.serve(ECHO_PROTOCOL, async (bytes) => bytes, { requestBytesMax: 64 })
      await owner.services.link.stop()
      await owner.services.link.start()
      const connection = await owner.dial(relay.getMultiaddrs())
      const addresses = await reservePlace(connection, AbortSignal.timeout(60_000))
      listenerOf(owner).set(addresses.map((address) => address.encapsulate('/p2p-circuit')))
      to = { id: owner.peerId.toString(), addresses: owner.getMultiaddrs().map(String) }
      opened = []
      consumer.addEventListener('connection:open', ({ detail }) => {
        if (detail.remotePeer.equals(owner.peerId)) opened.push(detail)
      })
    })
    afterEach(() => owner.stop())

    const echo = async (n: number) => {
      const options = { signal: new AbortController().signal, responseBytesMax: 64 }
      const bytes = await consumer.services.link.exchange(to, ECHO_PROTOCOL, Uint8Array.of(n), options)
      return bytes[0]
    }

    it('have the limits of the relay, and are shared by requests at the same time', async () => {
      assert.deepEqual(await Promise.all([1, 2, 3].map(echo)), [1, 2, 3])
      assert.deepEqual(
        opened.map(({ limits }) => limits?.bytes),
        [BigInt(RELAY_CIRCUIT_BYTES_MAX)]
      )
    })

    it('are shared by requests and dials of libp2p, which would abort the second one', async () => {
      const address = to.addresses.map((text) => multiaddr(text))
      const [dialled, answer] = await Promise.all([consumer.dial(address), echo(1)])
      assert.equal(answer, 1)
      // libp2p does not count a connection with limits as one.
      assert.equal(await consumer.dial(address), dialled)
      assert.deepEqual([opened, dialled.status], [[dialled], 'open'])
    })
  })
})
