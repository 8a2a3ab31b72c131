import { createNode } from '../../../lib/index.ts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { payload } from '../payload.ts'
import { play } from '../role.ts'
import type { Reachable } from './overlay-owner.ts'

export interface OverlayLoad extends LoadShape {
  readonly api: string
}

/** The consumer's end of the overlay: `souk.call`, as in code that embeds the library. */
play(async ({ addresses, ...network }: Reachable) => {
  const { souk, start, stop } = await createNode({ ...network, bootstrap: addresses })
  await start()

  async function run({ api, ...shape }: OverlayLoad) {
    const bodies = Array.from({ length: shape.concurrency }, (_, worker) => payload(worker))
    return closedLoop(shape, async (worker) => {
      const body = bodies[worker] ?? payload(worker)
      const reply = await souk.call({ api, body })
      if (reply.status === 200 && reply.body instanceof Uint8Array && body.equals(reply.body)) return
      throw new Error(`the call was answered ${reply.status}, or not with what was sent`)
    })
  }
  return { info: {}, operations: { run }, stop }
})
