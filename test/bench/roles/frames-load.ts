import type { PeerAddress } from '../../../lib/interface/index.ts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { framesNode } from '../frames-node.ts'
import { payload } from '../payload.ts'
import { play } from '../role.ts'

/** Sends frames and waits for their return. The first two bytes identify the worker. */
play(async (peer: PeerAddress) => {
  const { libp2p, link } = await framesNode()
  await libp2p.start()
  const channel = await link.connect(peer, AbortSignal.timeout(5_000))
  const waiting = new Map<number, (frame: Uint8Array) => void>()
  channel.onFrame = (frame) => waiting.get(workerOf(frame))?.(frame)

  async function run(shape: LoadShape) {
    const frames = Array.from({ length: shape.concurrency }, (_, worker) => {
      const frame = payload(worker)
      frame.writeUInt16BE(worker)
      return frame
    })
    return closedLoop(shape, async (worker) => {
      const sent = frames[worker] ?? payload(worker)
      const received = await new Promise<Uint8Array>((resolve) => {
        waiting.set(worker, resolve)
        channel.send(sent)
      })
      if (!sent.equals(received)) throw new Error('a frame came back as another')
    })
  }
  return { info: {}, operations: { run }, stop: () => libp2p.stop() }
})

function workerOf(frame: Uint8Array): number {
  return ((frame[0] ?? 0) << 8) | (frame[1] ?? 0)
}
