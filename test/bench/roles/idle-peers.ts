import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2p } from 'libp2p'
import { soukDht, soukGossip, soukTcp } from '../../../lib/index.ts'
import { play } from '../role.ts'

const AT_ONCE = 5
/** Handshakes time out where the machine is busy. */
const DIALS_MAX = 5
const NETWORK = { network: 'links', privateAddresses: true }

export interface IdlePeersArgs {
  readonly count: number
  readonly to: readonly string[]
}

/** Many peers of one node, with the protocols that run on an idle link. */
play(async ({ count, to }: IdlePeersArgs) => {
  const peers: Libp2p[] = []
  const add = async () => {
    const peer = await createLibp2p({
      addresses: { listen: [] },
      transports: [soukTcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionMonitor: { enabled: false },
      services: {
        identify: identify(),
        ping: ping(),
        pubsub: soukGossip(NETWORK),
        dht: soukDht({ ...NETWORK, clientMode: true })
      }
    })
    peers.push(peer)
    for (let dials = 1; peer.getConnections().length === 0; dials++) {
      await peer.dial(to.map((address) => multiaddr(address))).catch((error: unknown) => {
        if (dials === DIALS_MAX) throw error
      })
    }
  }
  for (let left = count; left > 0; left -= AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, add))
  return { info: {}, stop: () => Promise.all(peers.map(async (peer) => peer.stop())) }
})
