import { logOf, reasonOf } from '../base/component-log.ts'
import { DAY_MS } from '../base/limits/time.ts'
import type { Store } from '../interface/store.ts'
import type { PaymentScheme } from '../interface/payment-scheme.ts'
import type { SoukOptions } from '../options.ts'
import { Trimmer } from '../retention/trimmer.ts'
import type { Part } from './part.ts'
import type { SoukComponents } from './souk-components.ts'

export interface HousekeepingInit {
  readonly components: Pick<SoukComponents, 'logger'>
  readonly options: SoukOptions
  readonly store: Store
  readonly paymentScheme: PaymentScheme
}

/** Deletes old rows of the stores while the node runs. */
export function housekeepingPart({ components, options, store, paymentScheme: { retention } }: HousekeepingInit): Part {
  const { clock, sharedStore, keepDays, trimmedKinds } = options
  const log = logOf(components.logger, 'souk:store')
  const trimmer = new Trimmer({
    clock,
    store,
    keepMs: keepDays * DAY_MS,
    kinds: trimmedKinds,
    onError: (error) => log('deleting old rows failed: %s', reasonOf(error)),
    ...(sharedStore && { sharedStore }),
    ...(retention && { paymentScheme: retention })
  })
  return {
    async start() {
      trimmer.start()
    },
    [Symbol.asyncDispose]: () => trimmer.stop()
  }
}
