import type { Link } from '../interface/link.ts'
import type { Address } from '../interface/signer.ts'
import type { Store } from '../interface/store.ts'
import type { Till } from '../interface/till.ts'
import type { SoukOptions } from '../options.ts'
import { createMeteredTill } from '../pay/metered-till.ts'
import type { LocalManifests } from '../resolve/manifest/manifest-exchange.ts'
import type { Part } from './part.ts'
import type { SoukComponents } from './souk-components.ts'

export interface PayingInit {
  readonly components: Pick<SoukComponents, 'logger'>
  readonly options: SoukOptions
  readonly store: Store
  readonly link: Link
  /** Manifests that this node serves, whose providers it pays. */
  readonly local: LocalManifests
}

/** The payment scheme, for both directions. */
export interface Paying extends Part {
  readonly till: Till
}

export function createPaying({ components, options, store, link, local }: PayingInit): Paying {
  const { clock, random } = options
  const { calls, documents, ledger } = store
  const { logger } = components
  function* payouts(): Iterable<Address> {
    for (const { manifest } of local()) if (manifest.payout !== undefined) yield manifest.payout
  }
  const parts = { calls, documents, ledger, link, clock, random, payouts, logger }
  const till = options.till?.(parts) ?? createMeteredTill({ log: calls })
  return {
    till,
    start: async () => till.start?.(),
    [Symbol.asyncDispose]: async () => till.stop?.()
  }
}
