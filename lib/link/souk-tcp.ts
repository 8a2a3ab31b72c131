import { tcp } from '@libp2p/tcp'
import type { Transport } from '@libp2p/interface'
import { NOT_PUBLIC } from './public-addresses.ts'

export interface SoukTcpInit {
  /** The network lives on loopback or private addresses. Default true, as in `createNode`. */
  readonly privateAddresses?: boolean
}

/** Of `net.connect`: a stranger's DNS name does not lead to this machine's own network. */
const PUBLIC_ONLY = { noDelay: true, blockList: NOT_PUBLIC }

/** TCP as `createNode` uses it: `transports: [soukTcp()]`. On a public network it connects to no private address. */
export function soukTcp({
  privateAddresses = true
}: SoukTcpInit = {}): (components: Parameters<ReturnType<typeof tcp>>[0]) => Transport {
  return tcp(privateAddresses ? {} : { dialOpts: PUBLIC_ONLY })
}
