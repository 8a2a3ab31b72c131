import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { Connection } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { isProviderId, limits, SoukError } from '../../lib/index.ts'
import { CallStream, KIND } from './call-stream.ts'
import { FramedStream } from './framed-stream.ts'
import { Message, varint } from './message.ts'

const CALL = '/souk/call/1.0.0'
const BULK = '/souk/bulk/1.0.0'

/** Yamux. libp2p's type hides it. */
interface PingingMuxer {
  ping(options: { readonly signal: AbortSignal }): Promise<unknown>
}

/** One connection to the peer that the kit judges. */
export interface PeerConnection {
  /** The peer for one check. */
  begin(): PeerUnderTest
  close(): Promise<void>
}

/** The peer that the kit judges, as one check uses it. */
export interface PeerUnderTest {
  readonly id: string
  /** Opens a control stream and reads the peer's hello. The kit has not said its own. */
  openCall(): Promise<CallStream>
  /** A control stream on which both have said hello. */
  ready(): Promise<CallStream>
  /** Opens the stream of a request's body and sends its tag. */
  openBody(requestId: Uint8Array): Promise<FramedStream>
  /** Opens a stream for a body and sends nothing. */
  openBulk(): Promise<FramedStream>
  /** One request and one response on a stream of its own. Undefined if the peer does not speak the protocol. */
  exchange(protocol: string, request: Uint8Array): Promise<Message | undefined>
  /** Pings the peer by yamux. @throws Error if it does not respond in time */
  ping(): Promise<void>
  /** Resets all streams of the check. */
  end(): void
}

/** @throws SoukError `invalid_request`, `owner_unreachable` */
export async function connectTo(address: string): Promise<PeerConnection> {
  const to = parse(address)
  const node = await createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify(), ping: ping() },
    // The peer may ask for our protocols, but has nothing to dial.
    addresses: { listen: [] }
  })
  let connection: Connection
  try {
    connection = await node.dial(to)
  } catch (cause) {
    await node.stop()
    throw new SoukError('owner_unreachable', `The peer at ${address} cannot be reached.`, { cause })
  }
  return { begin: () => peerOn(connection), close: async () => node.stop() }
}

function peerOn(connection: Connection): PeerUnderTest {
  const streams: FramedStream[] = []
  const open = async (protocol: string) => {
    const stream = new FramedStream(await connection.newStream(protocol, { maxOutboundStreams: 64 }))
    streams.push(stream)
    return stream
  }
  const openCall = async () => {
    const stream = await open(CALL)
    const frame = await stream.next(limits.CONFORMANCE_ANSWER_MS)
    if (frame === undefined) throw new Error('the peer ended the stream before its hello')
    const first = new Message(frame)
    if (!first.has(KIND.hello)) throw new Error('the first frame of the peer is no hello')
    return new CallStream(stream, new Message(first.bytes(KIND.hello)))
  }
  return {
    id: connection.remotePeer.toString(),
    openCall,
    async ready() {
      const call = await openCall()
      call.sayHello()
      return call
    },
    async openBody(requestId) {
      const stream = await open(BULK)
      stream.sendRaw(Buffer.concat([varint(17n), requestId, Uint8Array.of(0)]))
      return stream
    },
    openBulk: () => open(BULK),
    async exchange(protocol, request) {
      const stream = await open(protocol).catch(unsupported)
      if (stream === undefined) return undefined
      stream.send(request)
      const bytes = await stream.next(limits.CONFORMANCE_ANSWER_MS)
      if (bytes === undefined) throw new Error('the peer ended the stream without a response')
      await stream.close().catch(() => undefined)
      return new Message(bytes)
    },
    async ping() {
      const { muxer } = connection as { readonly muxer?: Partial<PingingMuxer> }
      if (muxer?.ping === undefined) throw new Error('its multiplexer is not yamux')
      await muxer.ping({ signal: AbortSignal.timeout(limits.CONFORMANCE_ANSWER_MS) })
    },
    end() {
      for (const stream of streams) stream.reset()
    }
  }
}

/** @throws the error, unless it says that the peer does not speak the protocol */
function unsupported(error: unknown): undefined {
  if (!(error instanceof Error && error.name === 'UnsupportedProtocolError')) throw error
}

/** Undefined unless it is a multiaddr with a peer id. */
export function addressIn(text: string) {
  try {
    const to = multiaddr(text)
    return to.getComponents().some(({ name, value = '' }) => name === 'p2p' && isProviderId(value)) ? to : undefined
  } catch {
    return undefined
  }
}

function parse(address: string) {
  const to = addressIn(address)
  if (to !== undefined) return to
  throw new SoukError(
    'invalid_request',
    'Give the address of a peer with its id: /ip4/127.0.0.1/tcp/4402/p2p/12D3KooW… (`souk status` shows it).'
  )
}
