/**
 * A small peer of the protocol, written from docs/reference alone: it serves one free API that returns its request. It imports nothing
 * of ours, so it shows that the specification suffices.
 */
import { createHash } from 'node:crypto'
import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Connection, Stream } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { Bodies, sendBody } from './bodies.ts'
import { bytesIn, Cutter, type Fields, numberIn, prefixed, read, textIn, write } from './wire.ts'

const NAME = 'echo'
const NETWORK = 'dev'
const DAY = 86_400_000
/** Limits of docs/reference/limits.md. */
const LIMITS = { frame: 106_496, hello: 5_000, age: 29 * DAY, ahead: DAY, path: 8_192, inline: 65_536 }

interface Outcome {
  readonly hash: string
  readonly frame: readonly [kind: number, fields: Parameters<typeof write>[0]]
}

type Reply = readonly [kind: number, fields: Parameters<typeof write>[0]]

export interface SmallPeer {
  readonly api: string
  readonly addresses: readonly string[]
  /** Request ids that it ran. */
  readonly ran: readonly string[]
  stop(): Promise<void>
}

/** Rules that the peer breaks. */
export interface Faults {
  /** Another key signs its manifest. */
  readonly isForged?: boolean
  /** It runs each request with an idempotency key. */
  readonly ignoresKeys?: boolean
  /** It takes a body without the empty chunk at its end. */
  readonly takesCutBodies?: boolean
  /** It does not respond to pings. */
  readonly isDeaf?: boolean
  /** It resets each payment exchange. */
  readonly resetsPayments?: boolean
}

export async function startSmallPeer(faults: Faults = {}): Promise<SmallPeer> {
  const key = await generateKeyPair('Ed25519')
  const self = peerIdFromPrivateKey(key).toString()
  const epoch = Date.now()
  const outcomes = new Map<string, Outcome>()
  const ran: string[] = []
  /** By caller, API and idempotency key. */
  const keyed = new Map<string, Outcome>()
  const bodies = new Bodies(faults.takesCutBodies)
  const node = await createLibp2p({
    privateKey: key,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [faults.isDeaf === true ? deafYamux : yamux()],
    services: { identify: identify(), ping: ping() }
  })

  const many = { maxInboundStreams: 64, maxOutboundStreams: 64 }
  await node.handle(
    '/souk/bulk/1.0.0',
    (stream, connection) => bodies.take(stream, connection.remotePeer.toString()),
    many
  )
  await node.handle('/souk/call/1.0.0', (stream, connection) => serveCalls(stream, connection), many)
  await node.handle('/souk/manifest/1.0.0', (stream) => serveManifest(stream), many)
  if (faults.resetsPayments === true) {
    await node.handle('/souk/pay/1.0.0', (stream) => stream.abort(new Error('not today')), many)
  }

  function serveCalls(stream: Stream, connection: Connection): void {
    const cutter = new Cutter(LIMITS.frame)
    const peer = connection.remotePeer.toString()
    let lastId = 0
    let saidHello = false
    const send = ([kind, fields]: Reply) => {
      if (stream.status === 'open') stream.send(prefixed(write([[kind, write(fields)]])))
    }
    const timer = setTimeout(() => stream.abort(new Error('no hello')), LIMITS.hello)
    stream.addEventListener('close', () => clearTimeout(timer))
    send([
      1,
      [
        [1, NETWORK],
        [2, epoch],
        [3, 'small-peer'],
        [4, 100]
      ]
    ])

    const onFrame = (bytes: Uint8Array) => {
      const frame = read(bytes)
      const hello = bytesIn(frame, 1)
      if (hello !== undefined) {
        if (saidHello) return
        if (textIn(read(hello), 1) !== NETWORK) throw new Error('another network')
        saidHello = true
        clearTimeout(timer)
        return
      }
      const request = bytesIn(frame, 2)
      const isKnown = [2, 3, 4, 5, 6, 7].some((kind) => frame.has(kind))
      if (isKnown && !saidHello) throw new Error('no hello first')
      if (request === undefined) return
      const fields = read(request)
      const id = numberIn(fields, 1)
      if (id <= lastId) throw new Error('the id is used')
      lastId = id
      void respond(fields, peer).then(([kind, rest]) => {
        const body = rest.find(([field]) => kind === 3 && field === 4)?.[1]
        const isLarge = body instanceof Uint8Array && body.length > LIMITS.inline
        send([kind, [[1, id], ...rest.filter(([field]) => !isLarge || field !== 4)]])
        const requestId = bytesIn(fields, 2)
        if (isLarge && requestId !== undefined) return sendBody(connection, requestId, body)
        return undefined
      })
    }
    stream.addEventListener('message', ({ data }) => {
      try {
        for (const bytes of cutter.push(data.subarray())) onFrame(bytes)
      } catch (error) {
        stream.abort(error as Error)
      }
    })
  }

  /** The checks of section 4.2, in their order. */
  async function respond(fields: Fields, peer: string): Promise<Reply> {
    const requestId = bytesIn(fields, 2) ?? new Uint8Array(0)
    const api = textIn(fields, 3)
    const [method, path] = [textIn(fields, 4), textIn(fields, 5)]
    const isUuid = requestId.length === 16 && (requestId[6] ?? 0) >> 4 === 7 && (requestId[8] ?? 0) >> 6 === 2
    const isApi = /^[a-z0-9][a-z0-9-]{0,62}@12D3KooW[1-9A-HJ-NP-Za-km-z]{44}$/.test(api)
    const isPath = (path === '' || /^[/?]/.test(path)) && path.length <= LIMITS.path
    const isService = numberIn(fields, 20) <= 1
    const isPseudonym = [undefined, 16].includes(bytesIn(fields, 16)?.length)
    const isSound = isUuid && isApi && isPath && isService && isPseudonym && /^[A-Z]{1,32}$/.test(method)
    if (!isSound) return failure('invalid_request', 400, true)
    const timeout = numberIn(fields, 8)
    if (timeout < 1) return failure('upstream_timeout', 504, true)
    const body = bytesIn(fields, 7)
    const stream = body === undefined ? await bodies.opened(peer, requestId, timeout) : undefined
    if (body === undefined && stream === undefined) return failure('overloaded', 503, true, 'ingress')

    const age = Date.now() - Buffer.from(requestId).readUIntBE(0, 6)
    if (age > LIMITS.age) return failure('request_expired', 410)
    if (age < -LIMITS.ahead) return failure('invalid_request', 400)
    const head = `${api}\n${method}\n${path}\n`
    const hash = createHash('sha256')
      .update(head)
      .update(body ?? '')
      .digest('hex')
    const name = `${peer} ${Buffer.from(requestId).toString('hex')}`
    const known = outcomes.get(name)
    if (known !== undefined) return known.hash === hash ? known.frame : failure('idempotency_mismatch', 422)
    if (api !== `${NAME}@${self}`) return failure('api_not_found', 404, true)
    const keep = (frame: Reply): Reply => {
      outcomes.set(name, { hash, frame })
      return frame
    }
    if (fields.has(14) && fields.get(14)?.at(-1) !== BigInt(epoch)) return keep(failure('call_interrupted', 502))
    const whole = body ?? (await stream?.whole(timeout))
    if (whole === undefined) return keep(failure('invalid_request', 400, false, 'ingress'))
    const run = (): Reply => {
      ran.push(name)
      return answer(whole)
    }
    const key = faults.ignoresKeys === true ? '' : textIn(fields, 12)
    if (key === '') return keep(run())
    const whose = `${Buffer.from(bytesIn(fields, 16) ?? Buffer.from(peer)).toString('hex')} ${api} ${key}`
    const ofKey = createHash('sha256').update(head).update(whole).digest('hex')
    const earlier = keyed.get(whose)
    if (earlier === undefined) {
      const frame = numberIn(fields, 18) === 1 ? failure('call_interrupted', 502) : run()
      keyed.set(whose, { hash: ofKey, frame })
      return keep(frame)
    }
    if (earlier.hash !== ofKey) return failure('idempotency_mismatch', 422, true)
    const [kind, rest] = earlier.frame
    return keep(kind === 3 ? [kind, [...rest, [10, 1]]] : earlier.frame)
  }

  async function serveManifest(stream: Stream): Promise<void> {
    const manifest = await sealedManifest()
    const cutter = new Cutter(1_024)
    stream.addEventListener('message', ({ data }) => {
      for (const bytes of cutter.push(data.subarray())) {
        const request = read(bytes)
        const [name, provider] = [textIn(request, 1), textIn(request, 2)]
        const isOurs = name === NAME && (provider === '' || provider === self)
        stream.send(prefixed(write([[1, isOurs ? manifest : undefined]])))
        void stream.close()
      }
    })
  }

  async function sealedManifest(): Promise<Uint8Array> {
    const now = Date.now()
    const payload = write([
      [1, NAME],
      [2, self],
      [3, 'REST'],
      [7, 'USDC'],
      [11, 'published'],
      [12, 1],
      [13, now],
      [14, now + DAY]
    ])
    const record = {
      domain: 'souk-manifest',
      codec: new TextEncoder().encode('/souk/manifest'),
      marshal: () => payload,
      equals: () => false
    }
    const signer = faults.isForged === true ? await generateKeyPair('Ed25519') : key
    return (await RecordEnvelope.seal(record, signer)).marshal()
  }

  return {
    api: `${NAME}@${self}`,
    addresses: node.getMultiaddrs().map(String),
    ran,
    stop: async () => node.stop()
  }
}

function deafYamux(): ReturnType<ReturnType<typeof yamux>> {
  const inner = yamux()()
  return {
    protocol: inner.protocol,
    createStreamMuxer: (connection) => Object.assign(inner.createStreamMuxer(connection), { handlePing: () => {} })
  }
}

function answer(body: Uint8Array): Reply {
  const header = write([
    [1, 'content-type'],
    [2, 'application/json']
  ])
  return [
    3,
    [
      [2, 200],
      [3, header],
      [4, body]
    ]
  ]
}

function failure(code: string, status: number, notAccepted = false, source = 'owner'): Reply {
  return [
    4,
    [
      [2, code],
      [3, code],
      [4, status],
      [5, notAccepted ? 1 : undefined],
      [6, source]
    ]
  ]
}
