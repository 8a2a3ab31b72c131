import type { Link } from '../interface/link.ts'
import type { Address } from '../interface/signer.ts'
import type { Store } from '../interface/store.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import type { SoukOptions } from '../options.ts'
import { createMeteredScheme } from '../pay/metered-scheme.ts'
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
  readonly paymentScheme: PaymentScheme
}

export function createPaying({ components, options, store, link, local }: PayingInit): Paying {
  const { clock, random, sharedStore } = options
  const { calls, documents, ledger } = store
  const { logger } = components
  function* payouts(): Iterable<Address> {
    for (const { manifest } of local()) if (manifest.payout !== undefined) yield manifest.payout
  }
  const shared = sharedStore?.documents
  const parts = { calls, documents, shared, ledger, link, clock, random, payouts, logger }
  const paymentScheme = options.paymentScheme?.(parts) ?? createMeteredScheme({ log: calls })
  return {
    paymentScheme,
    start: async () => paymentScheme.start?.(),
    [Symbol.asyncDispose]: async () => paymentScheme.stop?.()
  }
}
