import { createNode, createSqliteStore } from '../../../lib/index.ts'
import { echo } from '../echo.ts'
import { play } from '../role.ts'

export interface Reachable {
  /** Multiaddrs with the peer id. */
  readonly addresses: readonly string[]
  /** Default: that of the library. */
  readonly network?: string
}

export interface OverlayOwnerArgs {
  readonly name: string
  readonly price: string
  /** A file for the books. Default: in memory. */
  readonly path?: string
}

/** The owner's end of the overlay: the whole library, metered. */
play(async ({ name, price, path }: OverlayOwnerArgs) => {
  const { souk, start, stop } = await createNode(path === undefined ? {} : { store: createSqliteStore({ path }) })
  await start()
  await souk.serve({ name, price }, echo)
  return { info: { addresses: souk.status().addresses }, stop }
})
