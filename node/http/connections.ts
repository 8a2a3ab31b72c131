import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { isLocal, networkOf } from './host.ts'

export interface ConnectionLimits {
  readonly connectionsMax: number
  /** Of one host. Connections of this machine count for none. */
  readonly perHostMax: number
  /** All connections come from a proxy: none is told apart by its host. */
  readonly trustProxy: boolean
}

interface Connection {
  readonly socket: Socket
  readonly host: string | undefined
  /** Requests without a complete response. */
  requests: number
}

/**
 * Bounds the connections of an HTTP or HTTPS server. A host that has as many as it may gets no more. When all places are taken, the
 * connection that has been idle for longest makes room; a connection that has sent no complete request head counts as idle. When all
 * have requests under way, the new connection is refused.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const places = new Places(limits)
  server.on('connection', (socket: Socket) => places.take(socket))
  // Under TLS requests come on the socket inside.
  if (server instanceof TlsServer) server.on('secureConnection', (inner: Socket) => places.wrap(inner))
  server.prependListener('request', ({ socket }, res) => {
    const over = places.begin(socket)
    if (over !== undefined) res.once('close', over)
  })
}

class Places {
  readonly #limits: ConnectionLimits
  readonly #all = new Set<Connection>()
  /** Under TLS, by the socket inside as well. */
  readonly #bySocket = new WeakMap<Socket, Connection>()
  readonly #byAddress = new Map<string, Connection>()
  readonly #perHost = new Map<string, number>()
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  take(socket: Socket): void {
    const { remoteAddress } = socket
    const host = this.#limits.trustProxy || isLocal(remoteAddress) ? undefined : networkOf(remoteAddress ?? '')
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

  /** A request begins; returns what to do when its response is over. */
  begin(socket: Socket): (() => void) | undefined {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined) return undefined
    connection.requests++
    this.#idle.delete(connection)
    return () => {
      if (--connection.requests === 0 && this.#all.has(connection)) this.#idle.add(connection)
    }
  }

  #hasRoom(host: string | undefined): boolean {
    const { connectionsMax, perHostMax } = this.#limits
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
