import { noise } from '@chainsafe/libp2p-noise'
import type { Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { LINK_BUFFER_BYTES_MAX, LINK_WINDOW_BYTES_MAX } from '../../lib/base/limits/link.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { corked } from '../../lib/link/cork.ts'
import { type LinkComponents, Libp2pLink } from '../../lib/link/libp2p-link.ts'
import { noiseCrypto } from '../../lib/link/noise-crypto.ts'

/** Only Souk's link: frames of bytes over libp2p, configured as by `createNode`. */
export async function framesNode(): Promise<{ libp2p: Libp2p; link: Libp2pLink }> {
  const libp2p = await createLibp2p({
    start: false,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [corked(noise({ crypto: noiseCrypto() }))],
    streamMuxers: [
      yamux({
        streamOptions: { maxStreamWindowSize: LINK_WINDOW_BYTES_MAX, maxWriteBufferLength: LINK_BUFFER_BYTES_MAX }
      })
    ],
    connectionGater: { denyDialMultiaddr: () => false },
    services: { link: (components: LinkComponents) => new Libp2pLink(components, systemClock) }
  })
  return { libp2p, link: libp2p.services.link }
}
