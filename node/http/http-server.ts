import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { limits, SoukError } from '../../lib/index.ts'

export interface HttpServerInit {
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Time limit for a request to arrive. Default `REQUEST_RECEIVE_MS`. */
  readonly receiveMs?: number
  /** A client that reads nothing of its response for this long is disconnected. Default `READER_STALL_MS`. */
  readonly stallMs?: number
  /** Whether a request becomes an upgraded connection. Default: none does. */
  readonly upgrades?: (request: IncomingMessage) => boolean
  /** Handlers send `100 Continue` when they read the body, and refuse other expectations. Default: this server does both at once. */
  readonly lateContinue?: boolean
}

/**
 * An HTTP or HTTPS server that closes connections which stay silent, stop during a request, send it too slowly, or stop reading the
 * response.
 */
export function createHttpServer({
  tls,
  receiveMs = limits.REQUEST_RECEIVE_MS,
  stallMs = limits.READER_STALL_MS,
  upgrades = () => false,
  lateContinue = false
}: HttpServerInit = {}): Server {
  const headersTimeout = Math.min(limits.HEADERS_RECEIVE_MS, receiveMs)
  const options: ServerOptions = {
    maxHeaderSize: limits.HEADER_BYTES_MAX,
    requestTimeout: receiveMs,
    headersTimeout,
    // Node checks both time limits only at this interval.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    keepAliveTimeout: limits.KEEP_ALIVE_MS,
    // `checkTarget` checks it, so that a missing Host gets a problem document.
    requireHostHeader: false,
    shouldUpgradeCallback: upgrades
  }
  const server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: headersTimeout })
  server.timeout = stallMs
  // Node.js itself would also close a connection whose response is not there yet, or is a stream without an event.
  server.prependListener('request', (_request, response) => response.on('timeout', closeStalled))
  if (lateContinue) {
    const asRequest: RequestListener = (request, response) => void server.emit('request', request, response)
    server.on('checkContinue', asRequest).on('checkExpectation', asRequest)
  }
  return server
}

function closeStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?]*)/i

/**
 * RFC 9112 §3.2: a request names exactly one host. With two `Host` fields, or a target that names another host, a proxy and this server
 * could disagree about the host.
 * @throws SoukError `invalid_request`
 */
export function checkTarget({ method, headers, rawHeaders, httpVersion, url = '' }: IncomingMessage): void {
  const { host } = headers
  if (host === undefined && httpVersion === '1.1') {
    throw new SoukError('invalid_request', 'The Host header is missing (RFC 9112, section 3.2).')
  }
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) throw new SoukError('invalid_request', 'There is more than one Host header (RFC 9112, section 3.2).')
  if (url.startsWith('/')) return
  if (url === '*' && method !== 'OPTIONS') throw new SoukError('invalid_request', 'The request target is no path.')
  const named = ABSOLUTE_FORM.exec(url)?.[1]
  if (named !== undefined && host !== undefined && named.toLowerCase() !== host.toLowerCase()) {
    throw new SoukError('invalid_request', 'The request target names another host than the Host header.')
  }
}
