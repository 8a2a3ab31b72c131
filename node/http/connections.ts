import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { limits } from '../../lib/index.ts'
import { isLocal, networkOf } from './host.ts'

export interface ConnectionLimits {
  readonly connectionsMax: number
  /** Per host. Connections from this machine are exempt. */
  readonly perHostMax: number
  /** All connections come from a proxy, so they are not limited per host. */
  readonly trustProxy: boolean
}

interface Connection {
  readonly socket: Socket
  readonly host: string | undefined
  /** Requests whose response is incomplete. */
  requests: number
}

/**
 * Limits the connections of an HTTP or HTTPS server, in total and per host. When the server is full, it closes the connection that has been
 * idle for longest. A connection without a complete request head counts as idle, an upgraded one does not. If all connections have requests
 * in progress, the server refuses the new one. It closes a connection with more than `PIPELINED_REQUESTS_MAX` requests in progress.
 */
export function limitConnections(server: Server, max: ConnectionLimits): void {
  const places = new Places(max)
  server.on('connection', (socket: Socket) => places.take(socket))
  // Under TLS, requests arrive on the inner socket.
  if (server instanceof TlsServer) server.on('secureConnection', (inner: Socket) => places.wrap(inner))
  const onClose = function (this: ServerResponse) {
    places.end(this.req.socket)
  }
  server.prependListener('request', ({ socket }, res) => {
    places.begin(socket)
    res.on('close', onClose)
  })
  server.on('upgrade', ({ socket }) => places.begin(socket))
}

class Places {
  readonly #max: ConnectionLimits
  readonly #all = new Set<Connection>()
  /** Includes the inner sockets of TLS connections. */
  readonly #bySocket = new WeakMap<Socket, Connection>()
  readonly #byAddress = new Map<string, Connection>()
  readonly #perHost = new Map<string, number>()
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>()

  constructor(max: ConnectionLimits) {
    this.#max = max
  }

  take(socket: Socket): void {
    const { remoteAddress } = socket
    const host = this.#max.trustProxy || isLocal(remoteAddress) ? undefined : networkOf(remoteAddress ?? '')
    if (!this.#hasRoom(host)) {
      socket.resetAndDestroy()
      return
    }
    const connection: Connection = { socket, host, requests: 0 }
    const address = addressOf(socket)
    this.#all.add(connection)
    this.#idle.add(connection)
    this.#bySocket.set(socket, connection)
    this.#byAddress.set(address, connection)
    if (host !== undefined) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1)
    socket.once('close', () => {
      if (this.#byAddress.get(address) === connection) this.#byAddress.delete(address)
      this.#release(connection)
    })
  }

  wrap(inner: Socket): void {
    const connection = this.#byAddress.get(addressOf(inner))
    if (connection !== undefined) this.#bySocket.set(inner, connection)
  }

  /** Call when a request begins. */
  begin(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined) return
    connection.requests++
    this.#idle.delete(connection)
    if (connection.requests > limits.PIPELINED_REQUESTS_MAX) socket.destroy()
  }

  /** Call when the response to a request is over. */
  end(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection !== undefined && --connection.requests === 0 && this.#all.has(connection)) this.#idle.add(connection)
  }

  #hasRoom(host: string | undefined): boolean {
    const { connectionsMax, perHostMax } = this.#max
    if (host !== undefined && (this.#perHost.get(host) ?? 0) >= perHostMax) return false
    if (this.#all.size < connectionsMax) return true
    const [oldest] = this.#idle
    if (oldest === undefined) return false
    this.#release(oldest)
    oldest.socket.destroy()
    return true
  }

  #release(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    this.#idle.delete(connection)
    const { host } = connection
    if (host === undefined) return
    const left = (this.#perHost.get(host) ?? 1) - 1
    if (left > 0) this.#perHost.set(host, left)
    else this.#perHost.delete(host)
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
