import { once } from 'node:events'
import { connect, isIP, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  type ComponentLogger,
  type Connection,
  type DialTransportOptions,
  type Transport,
  transportSymbol
} from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createWebSocketStream, WebSocket } from 'ws'
import { checkMembers, FLAG, type MemberRules } from '../../base/check-members.ts'
import { DIAL_ADDRESS_MS, WEBSOCKET_MESSAGE_BYTES_MAX } from '../../base/limits/link.ts'
import { dialName } from '../dial-name.ts'
import { NOT_PUBLIC } from '../public-addresses.ts'
import { StreamConnection } from './stream-connection.ts'
import { type WebSocketPlace, webSocketPlace } from './websocket-address.ts'

export interface SoukWebSocketsInit {
  /** The network uses loopback or private addresses. Default true, as in `createNode`. */
  readonly privateAddresses?: boolean
}

const RULES: MemberRules<SoukWebSocketsInit> = { privateAddresses: FLAG }

/**
 * Dials WebSocket addresses (`/ws`, `/wss` and `/tls/ws`). It does not listen: `soukTcp` accepts WebSockets on its TCP
 * port. libp2p's own transport has no limit of a message and no way to reject private addresses of a DNS name.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 */
export function soukWebSockets(
  init: SoukWebSocketsInit = {}
): (components: { readonly logger: ComponentLogger }) => Transport {
  checkMembers('The options of `soukWebSockets`', init, RULES)
  const { privateAddresses = true } = init
  return ({ logger }) => {
    const log = logger.forComponent('libp2p:websockets')
    return {
      [transportSymbol]: true,
      [Symbol.toStringTag]: 'souk/websockets',
      listenFilter: () => [],
      createListener: () => {
        throw new Error('A WebSocket listens on a TCP address.')
      },
      dialFilter: (addresses) => addresses.filter((address) => webSocketPlace(address) !== undefined),
      async dial(address: Multiaddr, options: DialTransportOptions): Promise<Connection> {
        const place = webSocketPlace(address)
        if (place === undefined) throw new Error(`${address.toString()} is not the address of a WebSocket`)
        return dialName(address, options, async (each, own) => {
          // The certificate and the `Host` header keep the name.
          const host = each.getComponents()[0]?.value ?? place.host
          const socket = await opened({ ...place, host }, privateAddresses, own.signal)
          const stream = createWebSocketStream(socket)
          const init = { stream, remoteAddr: address, direction: 'outbound' as const, log }
          const connection = new StreamConnection(init)
          try {
            return await options.upgrader.upgradeOutbound(connection, { ...options, ...own })
          } catch (error) {
            connection.abort(error instanceof Error ? error : new Error('the upgrade failed', { cause: error }))
            throw error
          }
        })
      }
    }
  }
}

async function opened(place: WebSocketPlace, privateAddresses: boolean, signal: AbortSignal): Promise<WebSocket> {
  signal.throwIfAborted()
  const { name, port, isSecure } = place
  const socket = new WebSocket(`${isSecure ? 'wss' : 'ws'}://${isIPv6(name) ? `[${name}]` : name}:${port}/`, {
    createConnection: () => connected(place, privateAddresses),
    handshakeTimeout: DIAL_ADDRESS_MS,
    maxPayload: WEBSOCKET_MESSAGE_BYTES_MAX,
    // Encrypted bytes do not compress, and a compressed message can expand without limit.
    perMessageDeflate: false
  })
  try {
    await once(socket, 'open', { signal })
    return socket
  } catch (error) {
    // A socket that is closed before it opened emits one more error.
    socket.once('error', () => {})
    socket.terminate()
    throw error
  }
}

function connected({ host, port, isSecure, name }: WebSocketPlace, privateAddresses: boolean): Socket {
  const socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    // An untrusted DNS name must not lead into this machine's own network.
    ...(privateAddresses ? {} : { blockList: NOT_PUBLIC })
  })
  if (!isSecure) return socket
  const secure = connectTls({
    socket,
    servername: isIP(name) === 0 ? name : '',
    ALPNProtocols: ['http/1.1'],
    host: name
  })
  socket.once('error', (error) => secure.destroy(error))
  return secure
}
