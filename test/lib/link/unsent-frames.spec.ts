import assert from 'node:assert/strict'
import { noise } from '@chainsafe/libp2p-noise'
import { RELAY_V2_STOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection, Libp2p, MessageStream, Stream, Upgrader } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { CircuitConnection } from '../../../lib/link/reach/circuit-connection.ts'
import { eventually, PATIENCE_MS_MIN } from '../../helpers/eventually.ts'
import { DATA, FIN, frame, quietPeer, SYN, WINDOW_UPDATE } from '../../helpers/yamux-frames.ts'

/** `StopMessage` with `type = CONNECT`. The id of the peer follows. */
const CONNECT = [8, 0, 18]
const INVALID = frame(WINDOW_UPDATE, SYN, 0, 0)

interface Below {
  readonly muxer: { readonly maConn: MessageStream }
}
const below = (connection: Connection) => connection as unknown as Below

const peerWithUpgrader = () =>
  createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ enableKeepAlive: false })],
    connectionMonitor: { enabled: false },
    services: { upgrader: ({ upgrader }: { readonly upgrader: Upgrader }) => upgrader }
  })

describe('a connection that a peer closes', () => {
  let node: SoukNode
  let relay: Libp2p
  /** The peer at the other end of the relay's circuit. */
  let stranger: Awaited<ReturnType<typeof peerWithUpgrader>>
  let dialled: Connection
  beforeEach(async () => {
    node = await createNode()
    await node.start()
    relay = await quietPeer()
    stranger = await peerWithUpgrader()
    dialled = await relay.dial(node.libp2p.getMultiaddrs())
  })
  afterEach(async () => {
    await Promise.all([relay.stop(), stranger.stop()])
    await node.stop()
  })

  /** A circuit to the node, and its stream. No relay was asked for it. */
  async function circuit(): Promise<readonly [Connection, Stream]> {
    const stream = await dialled.newStream(RELAY_V2_STOP_CODEC)
    const messages = lpStream(stream)
    const id = stranger.peerId.toMultihash().bytes
    await messages.write(Uint8Array.of(...CONNECT, id.length + 2, 10, id.length, ...id))
    await messages.read()
    messages.unwrap()
    const address = multiaddr(`${node.libp2p.getMultiaddrs().join()}/p2p-circuit/p2p/${node.libp2p.peerId.toString()}`)
    const connection = new CircuitConnection(stream, address)
    connection.receive()
    const options = { signal: AbortSignal.timeout(PATIENCE_MS_MIN) }
    return [await stranger.services.upgrader.upgradeOutbound(connection, options), stream]
  }

  it('may be a circuit, whose last frame is invalid', async () => {
    const [connection, stream] = await circuit()
    const outer = below(dialled).muxer.maConn
    const id = Number(stream.id)
    const accepted = await eventually('the other end', 5_000, () => node.libp2p.getConnections(stranger.peerId)[0])
    stream.send = (data) => outer.send(Buffer.concat([frame(DATA, FIN, id, data.byteLength), data.subarray()]))
    below(connection).muxer.maConn.send(INVALID)
    await eventually('the circuit to close', 5_000, () => accepted.status !== 'open' || undefined)
    const { status } = await stranger.dial(node.libp2p.getMultiaddrs())
    assert.equal(status, 'open')
  })
})
