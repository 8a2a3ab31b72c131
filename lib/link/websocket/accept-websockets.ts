import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { MultiaddrConnection, Upgrader } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import {
  WEBSOCKET_HEAD_BYTES_MAX,
  WEBSOCKET_MESSAGE_BYTES_MAX,
  WEBSOCKET_SENT_BYTES_MAX
} from '../../base/limits/link.ts'

/** The connection of libp2p's TCP transport. */
interface TcpConnection extends AbstractMultiaddrConnection {
  readonly socket: Socket
}

/** `GET` starts with it. A libp2p peer starts with the length of `/multistream/1.0.0`, which is 19. */
const G = 0x47

/**
 * Lets a TCP listener accept WebSockets on the same port: its connections change when their first byte is that of an
 * HTTP request. The upgrader counts and limits both alike, from the first byte to the end of the handshake.
 */
export function acceptWebSockets(upgrader: Upgrader): Upgrader {
  const accepting = webSocketServer()
  const upgradeInbound = async (
    connection: MultiaddrConnection,
    options: Parameters<Upgrader['upgradeInbound']>[1]
  ) => {
    if (isOfTcp(connection)) {
      connection.onData = (data) => {
        Reflect.deleteProperty(connection, 'onData')
        const bytes = data.subarray()
        if (bytes[0] === G) overWebSocket(connection, bytes, accepting)
        else connection.onData(data)
      }
    }
    await upgrader.upgradeInbound(connection, options)
  }
  return new Proxy(upgrader, {
    get: (target, name) => {
      if (name === 'upgradeInbound') return upgradeInbound
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    }
  })
}

const isOfTcp = (connection: MultiaddrConnection): connection is TcpConnection =>
  connection instanceof AbstractMultiaddrConnection && 'socket' in connection

type Accept = (raw: Duplex, onOpen: (socket: WebSocket) => void) => void

/** An HTTP server that listens nowhere. It reads the requests of connections that it is given. */
function webSocketServer(): Accept {
  const waiting = new WeakMap<object, (socket: WebSocket) => void>()
  const server: Server = createServer(
    // It needs no time limits: the upgrader ends a connection after `CONNECTION_UPGRADE_MS`.
    { maxHeaderSize: WEBSOCKET_HEAD_BYTES_MAX },
    (_request, response) => {
      const head = { connection: 'close', upgrade: 'websocket', 'content-type': 'text/plain' }
      response.writeHead(426, head).end('This port is for peers of Souk. It accepts WebSocket connections only.\n')
    }
  )
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: WEBSOCKET_MESSAGE_BYTES_MAX,
    // Encrypted bytes do not compress, and a compressed message can expand without limit.
    perMessageDeflate: false
  })
  server.on('upgrade', (request: IncomingMessage, raw, head) => {
    // A web page must not reach a node that listens on this machine only. Peers send no Origin.
    if (request.headers.origin === undefined) {
      sockets.handleUpgrade(request, raw, head, (socket) => waiting.get(raw)?.(socket))
    } else refuse(raw, '403 Forbidden')
  })
  server.on('clientError', (_error, raw) => refuse(raw, '400 Bad Request'))
  return (raw, onOpen) => {
    waiting.set(raw, onOpen)
    server.emit('connection', raw)
  }
}

function refuse(raw: Duplex, status: string): void {
  raw.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}

/** Replaces the bytes of a TCP connection with the messages of a WebSocket on it. */
function overWebSocket(connection: TcpConnection, first: Uint8Array, accept: Accept): void {
  const { socket } = connection
  const deliver = connection.onData.bind(connection)
  const raw = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => void socket.write(chunk, done),
    final: (done) => {
      socket.destroySoon()
      done()
    }
  })
  raw.on('error', (error) => connection.abort(error))
  raw.once('close', () => socket.destroySoon())
  connection.addEventListener('close', () => raw.destroy(), { once: true })
  connection.onData = (data) => {
    if (!raw.push(data.subarray())) socket.pause()
  }
  accept(raw, (webSocket) => {
    const stream = createWebSocketStream(webSocket)
    stream.on('data', deliver)
    stream.on('drain', () => connection.safeDispatchEvent('drain'))
    stream.on('error', (error) => connection.abort(error))
    connection.remoteAddr = connection.remoteAddr.encapsulate('/ws')
    connection.maxMessageSize = WEBSOCKET_SENT_BYTES_MAX
    connection.sendData = (data) => ({ sentBytes: data.byteLength, canSendMore: stream.write(data.subarray()) })
    const close = connection.sendClose.bind(connection)
    connection.sendClose = (options) => {
      webSocket.close()
      return close(options)
    }
    connection.sendPause = () => void stream.pause()
    connection.sendResume = () => void stream.resume()
  })
  connection.onData(first)
}
