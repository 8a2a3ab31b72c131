import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { formatRequestId, isProviderId, limits, SoukError } from '../../../lib/index.ts'
import type { ApiRef, Clock } from '../../../lib/interface/index.ts'
import { checkTarget } from '../../http/http-server.ts'
import type { Scopes } from '../../names/scopes.ts'
import { sendProblem } from '../problem.ts'
import type { IngressLog } from '../request-context.ts'
import { checkSingleHeaders } from '../single-headers.ts'
import { GraphqlSocket } from './graphql-socket.ts'
import { readRef } from './request.ts'
import type { CallRoute } from './call-route.ts'

const PROTOCOL = 'graphql-transport-ws'
const PATH = /^\/api\/([^/?]+)\/api\/([^/?]+)\/?(?:\?|$)/

export interface GraphqlSocketsInit {
  readonly route: CallRoute
  readonly clock: Clock
  readonly log: IngressLog
  readonly scopes?: Pick<Scopes, 'providerOf'> | undefined
  readonly ids: { next(): Uint8Array }
}

/** Accepts WebSockets of graphql-ws at the URLs of APIs, beside GraphQL over SSE. */
export class GraphqlSockets {
  readonly #init: GraphqlSocketsInit
  readonly #open = new Set<GraphqlSocket>()
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.GRAPHQL_SOCKET_MESSAGE_BYTES_MAX,
    handleProtocols: () => PROTOCOL
  })
  #isDraining = false

  constructor(init: GraphqlSocketsInit) {
    this.#init = init
    this.#server.on('wsClientError', ({ message }, socket, req) => {
      const error = new SoukError('invalid_request', `This is no WebSocket handshake: ${message}.`)
      this.#refuse(req, socket as Socket, error, ['Sec-WebSocket-Version', '13'])
    })
  }

  /** Whether a request asks for such a WebSocket. Others get 426. */
  static takes({ method, url = '', headers }: IncomingMessage): boolean {
    const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    const isWebSocket = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
    return isWebSocket && protocols.includes(PROTOCOL) && PATH.test(url)
  }

  /** Closes connections as soon as they have no operation. */
  drain(): void {
    this.#isDraining = true
    for (const socket of this.#open) socket.drain()
  }

  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Until the upgrade, an error of the socket has no other listener.
    const onError = () => socket.destroy()
    socket.on('error', onError)
    try {
      this.#check(req)
    } catch (error) {
      return this.#refuse(req, socket as Socket, error)
    }
    this.#server.handleUpgrade(req, socket, head, (ws) => {
      socket.off('error', onError)
      const { route, clock } = this.#init
      const mayOpen = (holder: string) =>
        [...this.#open].filter((one) => one.holder === holder).length < limits.EVENT_STREAMS_PER_KEY_MAX
      const opened = new GraphqlSocket({ ws, req, route, clock, mayOpen, api: () => this.#apiOf(req) })
      this.#open.add(opened)
      ws.once('close', () => this.#open.delete(opened))
    })
  }

  /** @throws SoukError `overloaded`, `invalid_request` */
  #check(req: IncomingMessage): void {
    if (this.#isDraining) throw new SoukError('overloaded', 'This node is shutting down.')
    if (this.#open.size >= limits.GRAPHQL_SOCKETS_MAX)
      throw new SoukError('overloaded', 'Too many WebSockets are open.')
    checkTarget(req)
    checkSingleHeaders(req)
  }

  /** @throws SoukError `upgrade_required` for an API of another protocol, and as `Souk.resolve` */
  async #apiOf({ url = '' }: IncomingMessage): Promise<ApiRef> {
    const { route, scopes } = this.#init
    const [scope = '', name = ''] = (PATH.exec(url) ?? []).slice(1).map(decoded)
    const isKnown = scope === 'demo' || isProviderId(scope) || scopes === undefined
    const api = readRef(isKnown ? scope : ((await scopes.providerOf(scope)) ?? scope), name)
    const { signed } = await route.souk.resolve(api)
    if (signed.manifest.protocol !== 'GraphQL') throw new SoukError('upgrade_required')
    return api
  }

  /** @param more - further headers */
  #refuse(req: IncomingMessage, socket: Socket, error: unknown, more: readonly string[] = []): void {
    const { clock, log, ids } = this.#init
    const requestId = ids.next()
    const requestIdText = formatRequestId(requestId)
    const res = new ServerResponse(req)
    res.assignSocket(socket)
    res.once('finish', () => socket.end())
    const headers = ['X-Request-Id', requestIdText, 'Connection', 'close', ...more]
    sendProblem({ req, res, clock, log, requestId, requestIdText, startedAt: clock.elapsed(), headers }, error)
  }
}

/** @throws SoukError `invalid_request` */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new SoukError('invalid_request', 'The path of the URL is malformed.')
  }
}
