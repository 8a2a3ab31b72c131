import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2p } from 'libp2p'
import { soukDht, soukGossip, soukTcp } from '../../../lib/index.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { heartbeat } from '../../../lib/link/heartbeat.ts'
import { LINK_RTT_MS } from '../../../lib/base/limits/link.ts'
import { announcementTopic } from '../../../lib/link/souk-gossip.ts'
import { play } from '../role.ts'
import { streamTraffic, type Traffic } from '../stream-traffic.ts'

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
  const traffic: Record<string, Traffic> = {}
  const add = async () => {
    const peer = await createLibp2p({
      addresses: { listen: [] },
      transports: [soukTcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux({ keepAliveInterval: LINK_RTT_MS })],
      connectionMonitor: { enabled: false },
      metrics: () => streamTraffic(traffic),
      services: {
        heartbeat: heartbeat({ clock: systemClock }),
        identify: identify(),
        ping: ping(),
        pubsub: soukGossip(NETWORK),
        dht: soukDht({ ...NETWORK, clientMode: true })
      }
    })
    peers.push(peer)
    peer.services.pubsub.subscribe(announcementTopic(NETWORK.network))
    for (let dials = 1; peer.getConnections().length === 0; dials++) {
      await peer.dial(to.map((address) => multiaddr(address))).catch((error: unknown) => {
        if (dials === DIALS_MAX) throw error
      })
    }
  }
  for (let left = count; left > 0; left -= AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, add))
  return {
    info: {},
    operations: { traffic: () => traffic },
    stop: () => Promise.all(peers.map(async (peer) => peer.stop()))
  }
})
