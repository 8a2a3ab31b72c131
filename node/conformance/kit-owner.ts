import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Connection } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { limits, systemClock, utf8 } from '../../lib/index.ts'
import { Arrivals } from './arrivals.ts'
import { FramedStream } from './framed-stream.ts'
import { encodeFields, type Field, varint } from './message.ts'
import { OwnerSession, type ReceivedCall } from './owner-session.ts'

const NAME = 'conformance'

/** An owner of one free API, for the consumer that the kit judges. */
export interface KitOwner {
  /** `name@provider` */
  readonly api: string
  readonly addresses: readonly string[]
  /** Calls in the order of their arrival, without repeats. */
  readonly calls: Arrivals<ReceivedCall>
  /** Requests whose request id arrived before. */
  readonly repeats: Arrivals<ReceivedCall>
  /** Control streams that the consumer opens. */
  readonly sessions: Arrivals<OwnerSession>
  /** The network that the owner says on the next streams. */
  network: string
  /** Sends the body of a response on a stream of its own. Resolves to false if the consumer reset the stream. */
  sendBody(call: ReceivedCall, chunks: readonly Uint8Array[]): Promise<boolean>
  stop(): Promise<void>
}

/** @param listen multiaddr */
export async function startKitOwner(network: string, listen: string): Promise<KitOwner> {
  const key = await generateKeyPair('Ed25519')
  const self = peerIdFromPrivateKey(key).toString()
  const node = await createLibp2p({
    privateKey: key,
    addresses: { listen: [listen] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify(), ping: ping() }
  })
  const calls = new Arrivals<ReceivedCall>()
  const repeats = new Arrivals<ReceivedCall>()
  const sessions = new Arrivals<OwnerSession>()
  const known = new Set<string>()
  const owner: KitOwner = {
    api: `${NAME}@${self}`,
    addresses: node.getMultiaddrs().map(String),
    calls,
    repeats,
    sessions,
    network,
    sendBody: (call, chunks) => sendBody(call.session.connection, call.requestId, chunks),
    stop: async () => node.stop()
  }
  const many = { maxInboundStreams: 64, maxOutboundStreams: 64 }
  const onCall = (call: ReceivedCall) => {
    const id = Buffer.from(call.requestId).toString('hex')
    const isKnown = known.has(id)
    known.add(id)
    return isKnown ? repeats.push(call) : calls.push(call)
  }
  await node.handle(
    '/souk/call/1.0.0',
    (stream, connection) => {
      const session = new OwnerSession(new FramedStream(stream), connection, owner.network)
      sessions.push(session)
      void session.serve(onCall)
    },
    many
  )
  // Bodies of requests: the API needs none, so they are read and dropped.
  await node.handle('/souk/bulk/1.0.0', () => undefined, many)
  await node.handle(
    '/souk/manifest/1.0.0',
    async (stream) => {
      const framed = new FramedStream(stream)
      await framed.next(limits.CONFORMANCE_ANSWER_MS)
      framed.send(encodeFields([[1, await manifest()]]))
      await framed.close()
    },
    many
  )

  async function manifest(): Promise<Uint8Array> {
    const now = systemClock.now()
    const fields: Field[] = [
      [1, NAME],
      [2, self],
      [3, 'REST'],
      [7, 'USDC'],
      [11, 'published'],
      [12, 1],
      [13, Math.floor(now)],
      [14, Math.floor(now) + limits.REQUEST_ID_AHEAD_MS]
    ]
    const payload = encodeFields(fields)
    const record = {
      domain: 'souk-manifest',
      codec: utf8('/souk/manifest'),
      marshal: () => payload,
      equals: () => false
    }
    return (await RecordEnvelope.seal(record, key)).marshal()
  }

  return owner
}

const TAG_BYTES = 17n
const OF_RESPONSE = 1

async function sendBody(connection: Connection, requestId: Uint8Array, chunks: readonly Uint8Array[]) {
  const stream = await connection.newStream('/souk/bulk/1.0.0', { maxOutboundStreams: 64 })
  const framed = new FramedStream(stream)
  framed.sendRaw(Buffer.concat([varint(TAG_BYTES), requestId, Uint8Array.of(OF_RESPONSE)]))
  for (const chunk of chunks) framed.send(chunk)
  framed.send(new Uint8Array(0))
  await framed.close().catch(() => undefined)
  return stream.status !== 'reset' && stream.status !== 'aborted'
}
