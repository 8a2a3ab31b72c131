import { createNode, soukTcp } from 'souk'

const node = await createNode({ network: 'dev', transports: [soukTcp()], listen: ['/ip4/127.0.0.1/tcp/0'] })
await node.start()
console.log(node.libp2p.getMultiaddrs().map(String).join('\n'))
await node.stop()
