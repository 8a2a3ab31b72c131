import { tcp } from '@libp2p/tcp'
import type { Transport } from '@libp2p/interface'
import { NOT_PUBLIC } from './public-addresses.ts'
import { acceptWebSockets } from './websocket/accept-websockets.ts'

export interface SoukTcpInit {
  /** The network uses loopback or private addresses. Default true, as in `createNode`. */
  readonly privateAddresses?: boolean
}

/** Options of `net.connect`. They keep an untrusted DNS name from leading into this machine's own network. */
const PUBLIC_ONLY = { noDelay: true, blockList: NOT_PUBLIC }

/**
 * TCP as `createNode` uses it: `transports: [soukTcp(), soukWebSockets()]`. Its listeners accept WebSockets as well. On a
 * public network it refuses private addresses.
 */
export function soukTcp({
  privateAddresses = true
}: SoukTcpInit = {}): (components: Parameters<ReturnType<typeof tcp>>[0]) => Transport {
  return (components) => {
    const transport = tcp(privateAddresses ? {} : { dialOpts: PUBLIC_ONLY })(components)
    const createListener = transport.createListener.bind(transport)
    transport.createListener = (options) => createListener({ ...options, upgrader: acceptWebSockets(options.upgrader) })
    return transport
  }
}
