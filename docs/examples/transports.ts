import { createNode, soukTcp, soukWebSockets } from 'souk'

const transports = [soukTcp(), soukWebSockets()]
const node = await createNode({ network: 'dev', transports, listen: ['/ip4/127.0.0.1/tcp/0'] })
await node.start()
console.log(node.libp2p.getMultiaddrs().map(String).join('\n'))
await node.stop()
