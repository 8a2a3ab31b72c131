import { framesNode } from '../frames-node.ts'
import { play } from '../role.ts'

/** Returns every frame. */
play(async () => {
  const { libp2p, link } = await framesNode()
  link.onChannel = (channel) => {
    channel.onFrame = (frame) => channel.send(frame)
  }
  await libp2p.start()
  return { info: { id: link.self, addresses: libp2p.getMultiaddrs().map(String) }, stop: () => libp2p.stop() }
})
