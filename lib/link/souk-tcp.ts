import { tcp } from '@libp2p/tcp'
import type { Listener, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { checkMembers, FLAG, type MemberRules } from '../base/check-members.ts'
import { SOCKET_BUFFER_BYTES } from '../base/limits/link.ts'
import { dialName } from './dial-name.ts'
import { NOT_PUBLIC } from './public-addresses.ts'
import { acceptWebSockets } from './websocket/accept-websockets.ts'

export interface SoukTcpInit {
  /** The network uses loopback or private addresses. Default true, as in `createNode`. */
  readonly privateAddresses?: boolean
}

const RULES: MemberRules<SoukTcpInit> = { privateAddresses: FLAG }

/** Options of `net.createServer`, and of `net.connect`. */
const SERVER = { highWaterMark: SOCKET_BUFFER_BYTES }
const CLIENT = { noDelay: true, writableHighWaterMark: SOCKET_BUFFER_BYTES }
/** Keeps an untrusted DNS name from leading into this machine's own network. */
const PUBLIC_ONLY = { ...CLIENT, blockList: NOT_PUBLIC }

/**
 * TCP as `createNode` uses it: `transports: [soukTcp(), soukWebSockets()]`. Its listeners accept WebSockets as well. On a
 * public network it refuses private addresses. A DNS name is looked up for each dial, and the first of its addresses that
 * connects is used.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 */
export function soukTcp(init: SoukTcpInit = {}): (components: Parameters<ReturnType<typeof tcp>>[0]) => Transport {
  checkMembers('The options of `soukTcp`', init, RULES)
  const { privateAddresses = true } = init
  return (components) => {
    const transport = tcp({ dialOpts: privateAddresses ? CLIENT : PUBLIC_ONLY })(components)
    const createListener = transport.createListener.bind(transport)
    transport.createListener = (options) =>
      withLastAddresses(createListener({ ...SERVER, ...options, upgrader: acceptWebSockets(options.upgrader) }))
    const dial = transport.dial.bind(transport)
    transport.dial = (address, options) => dialName(address, options, (each, own) => dial(each, { ...options, ...own }))
    return transport
  }
}

/**
 * A wildcard address stands for the interfaces of this machine. The system does not list them while this process has no file
 * left to open, which callers could cause. libp2p asks from timers and events, where an error would end the process.
 */
function withLastAddresses(listener: Listener): Listener {
  const getAddrs = listener.getAddrs.bind(listener)
  let last: Multiaddr[] = []
  listener.getAddrs = () => {
    try {
      last = getAddrs()
    } catch {
      // The last ones are right unless an interface has just changed, and the next call corrects them.
    }
    return last
  }
  return listener
}
