import { createNode } from '../../../lib/index.ts'
import type { Adapter } from '../../../lib/interface/index.ts'
import { play } from '../role.ts'

export interface Reachable {
  /** Multiaddrs, with the peer id. */
  readonly addresses: readonly string[]
}

/** An API in code: gives back the bytes it gets, as the `node:http` server it is compared to does. */
const echo: Adapter = {
  protocol: 'REST',
  description: { operations: [{ name: 'call' }] },
  call: async ({ body }) => ({
    status: 200,
    headers: [['content-type', 'application/json']],
    body,
    success: true,
    upstreamMs: 0
  })
}

/** The overlay's serving end: the whole library, books in memory, metered. */
play(async ({ name, price }: { name: string; price: string }) => {
  const { souk, start, stop } = await createNode()
  await start()
  await souk.serve({ name, price }, echo)
  return { info: { addresses: souk.status().addresses }, stop }
})
