import { noise } from '@chainsafe/libp2p-noise'
import { identify, identifyPush } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { handler, souk, soukDht } from 'souk'

const node = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: {
    identify: identify(),
    identifyPush: identifyPush(),
    ping: ping(),
    dht: soukDht({ network: 'dev', privateAddresses: true }),
    souk: souk({ network: 'dev' })
  }
})
const shout = handler(({ body }) => ({ loud: String(body).toUpperCase() }))
const { signed } = await node.services.souk.serve({ name: 'shout', price: '0.0001' }, shout)
console.log(JSON.stringify({ id: signed.id, join: node.getMultiaddrs().map(String) }))
