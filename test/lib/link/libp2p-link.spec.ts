import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import type { Clock } from '../../../lib/base/clock.ts'
import {
  BULK_STREAMS_PER_PEER_MAX,
  EARLY_STREAMS_MAX,
  LINK_BUFFER_BYTES_MAX,
  LINK_WINDOW_BYTES_MAX
} from '../../../lib/base/limits/link.ts'
import { corked } from '../../../lib/link/cork.ts'
import { type LinkComponents, Libp2pLink } from '../../../lib/link/libp2p-link.ts'
import { noiseCrypto } from '../../../lib/link/noise-crypto.ts'
import { soukTcp } from '../../../lib/link/souk-tcp.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { linkSuite } from '../../suites/link.ts'

type LinkNode = Libp2p<{ link: Libp2pLink }>

/** A libp2p node with the settings of `lib/create-node.ts`, with only a link on it. */
function linkNode(clock: Clock): Promise<LinkNode> {
  return createLibp2p({
    start: false,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [soukTcp()],
    connectionEncrypters: [corked(noise({ crypto: noiseCrypto() }))],
    streamMuxers: [
      yamux({
        maxInboundStreams: BULK_STREAMS_PER_PEER_MAX,
        maxOutboundStreams: BULK_STREAMS_PER_PEER_MAX,
        maxEarlyStreams: EARLY_STREAMS_MAX,
        streamOptions: { maxStreamWindowSize: LINK_WINDOW_BYTES_MAX, maxWriteBufferLength: LINK_BUFFER_BYTES_MAX }
      })
    ],
    connectionGater: { denyDialMultiaddr: () => false },
    services: { link: (components: LinkComponents) => new Libp2pLink(components, clock) }
  })
}

linkSuite('the libp2p link', async () => {
  const clock = manualClock()
  const nodes = await Promise.all([linkNode(clock), linkNode(clock)])
  const [a, b] = nodes
  const stranger = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
  return {
    a: a.services.link,
    b: b.services.link,
    address: (of) => {
      const node = of === a.services.link ? a : b
      return { id: of.self, addresses: node.getMultiaddrs().map(String) }
    },
    // The discard port, where no process listens.
    nobody: { id: stranger.toString(), addresses: ['/ip4/127.0.0.1/tcp/9'] },
    start: async () => {
      for (const node of nodes) await node.start()
    },
    advance: (ms) => clock.advance(ms),
    dispose: async () => {
      for (const node of nodes) await node.stop()
    }
  }
})
