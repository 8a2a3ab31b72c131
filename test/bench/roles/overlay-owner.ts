import { createNode } from '../../../lib/index.ts'
import { echo } from '../echo.ts'
import { play } from '../role.ts'

export interface Reachable {
  /** Multiaddrs with the peer id. */
  readonly addresses: readonly string[]
}

/** The owner's end of the overlay: the whole library, books in memory, metered. */
play(async ({ name, price }: { name: string; price: string }) => {
  const { souk, start, stop } = await createNode()
  await start()
  await souk.serve({ name, price }, echo)
  return { info: { addresses: souk.status().addresses }, stop }
})
