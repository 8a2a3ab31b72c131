import { UnsupportedProtocolError } from '@libp2p/interface'
import type {
  MultiaddrConnection,
  Stream,
  StreamMuxer,
  StreamMuxerFactory,
  Transport,
  Upgrader
} from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { equals } from 'uint8arrays/equals'
import { Uint8ArrayList } from 'uint8arraylist'
import { answerLines, selectLine, VERSION } from './answer-lines.ts'
import { checkedUpgrade, checkLines, checkMessages, isReceiving, type Receiving } from './checked-lengths.ts'
import { updateWindowByHalves } from './window-updates.ts'

/*
 * multistream-select without its round trip. The side that opens a stream names one protocol and sends its data at
 * once, as the specification allows. The response is checked when it arrives: it repeats the same lines.
 * https://github.com/multiformats/multistream-select
 */

/** A muxer whose streams are open as soon as their protocol is named. Streams of several protocols are unchanged. */
export function eagerMuxer<C>(
  muxer: (components: C) => StreamMuxerFactory
): (components: C & { readonly registrar: Registrar }) => StreamMuxerFactory {
  return (components) => {
    const inner = muxer(components)
    const isServed = (protocol: string) => components.registrar.getProtocols().includes(protocol)
    return {
      protocol: inner.protocol,
      createStreamMuxer(connection) {
        const created: StreamMuxer & { onRemoteStream?(stream: Stream): void } = inner.createStreamMuxer(connection)
        const onRemoteStream = created.onRemoteStream?.bind(created)
        if (onRemoteStream !== undefined)
          created.onRemoteStream = (stream) => {
            keepUnread(stream)
            keepEnd(stream)
            updateWindowByHalves(stream)
            if (isReceiving(stream)) answerLines(stream, isServed)
            onRemoteStream(stream)
          }
        const createStream = created.createStream.bind(created)
        created.createStream = async (options = {}) => {
          const stream = await createStream(options)
          updateWindowByHalves(stream)
          const { protocol } = options as { readonly protocol?: string }
          if (!isReceiving(stream)) return stream
          if (protocol === undefined) {
            checkLines(stream)
            return stream
          }
          checkMessages(stream, protocol)
          stream.protocol = protocol
          const lines = linesOf(protocol)
          expect(stream, lines, protocol)
          stream.send(lines)
          return stream
        }
        return created
      }
    }
  }
}

/** A transport whose dials start the encrypted handshake without waiting for its protocol. */
export function eagerTransport<C extends { readonly upgrader: Upgrader }>(
  transport: (components: C) => Transport
): (components: C) => Transport {
  return (components) => {
    const get = (target: C, key: PropertyKey): unknown =>
      key === 'upgrader' ? eagerUpgrader(target.upgrader) : Reflect.get(target, key)
    const inner = transport(new Proxy(components, { get }))
    const dial = inner.dial.bind(inner)
    inner.dial = (address, options) => dial(address, { ...options, upgrader: eagerUpgrader(options.upgrader) })
    const listener = inner.createListener.bind(inner)
    inner.createListener = (options) => listener({ ...options, upgrader: eagerUpgrader(options.upgrader) })
    return inner
  }
}

function eagerUpgrader(upgrader: Upgrader): Upgrader {
  const lines = [...upgrader.getConnectionEncrypters().keys()].map((protocol) => linesOf(protocol))
  const [only] = lines.length === 1 ? lines : []
  const own: Pick<Upgrader, 'upgradeInbound' | 'upgradeOutbound'> = {
    upgradeInbound: async (connection, options) => upgrader.upgradeInbound(connection, checkedUpgrade(options)),
    upgradeOutbound: async (connection, options) => {
      if (only !== undefined) answerHere(connection, only)
      return upgrader.upgradeOutbound(connection, checkedUpgrade(options))
    }
  }
  return new Proxy(upgrader, {
    get: (target, key) => (key in own ? own[key as keyof typeof own] : (Reflect.get(target, key) as unknown))
  })
}

/** libp2p waits for the response to the first lines, so it gets them from here. The peer's are dropped. */
function answerHere(connection: MultiaddrConnection, lines: Uint8Array): void {
  if (!isReceiving(connection)) return
  const send = connection.send.bind(connection)
  connection.send = (data) => {
    connection.send = send
    if (equals(data.subarray(), lines)) {
      expect(connection, lines, 'the encryption')
      connection.push(lines)
    }
    return send(data)
  }
}

/** Drops the response from the bytes of the peer, and aborts the stream where it is another one. */
function expect(stream: Receiving, lines: Uint8Array, protocol: string): void {
  const onData = stream.onData.bind(stream)
  const received = new Uint8ArrayList()
  stream.onData = (data) => {
    received.append(data)
    const head = received.subarray(0, Math.min(received.byteLength, lines.length))
    if (!equals(head, lines.subarray(0, head.length))) {
      stream.onData = onData
      stream.abort(new UnsupportedProtocolError(`Protocol selection failed - could not negotiate ${protocol}`))
    } else if (head.length === lines.length) {
      stream.onData = onData
      received.consume(lines.length)
      onData(received)
    }
  }
}

/**
 * The peer may send all its data with the lines, and close its end. libp2p takes all of it to read the lines, and closes
 * the readable end because nothing is left. Then it cannot put the data back, and aborts the stream.
 */
function keepUnread(stream: Stream): void {
  const unshift = stream.unshift.bind(stream)
  stream.unshift = (data) => {
    if (stream.status === 'open' && stream.readStatus === 'closed') stream.readStatus = 'readable'
    unshift(data)
  }
}

/**
 * The peer may close its end before the handler of the protocol listens. libp2p reports that only once, so a handler
 * that reads to the end would wait until its timeout: each ping of libp2p would leave two streams for ten seconds.
 */
function keepEnd(stream: Stream): void {
  const add = stream.addEventListener.bind(stream)
  stream.addEventListener = (...args: Parameters<typeof add>) => {
    add(...args)
    if (args[0] !== 'remoteCloseWrite' || stream.remoteWriteStatus !== 'closed') return
    // After the data, which libp2p delivers in a microtask too.
    queueMicrotask(() => stream.dispatchEvent(new Event('remoteCloseWrite')))
  }
}

const linesOf = (protocol: string): Uint8Array =>
  new Uint8ArrayList(selectLine(VERSION), selectLine(protocol)).subarray()
