import { type Clock, sleep } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { FEE_PAUSE_MS, FEE_WAIT_MS } from '../base/limits/plans.ts'
import type { SubscriptionOptions } from '../interface/subscription.ts'

const NOT_YET =
  'The deposit for the fee is made, and the provider does not count it yet. Nothing was charged. Repeat the request: it uses the same deposit.'

/**
 * Repeats a paid request until the deposit for it counts. A request that gets `settlement_pending` was not accepted, so a repeat pays nothing twice.
 * @throws SoukError `settlement_pending` if the deposit does not count within `feeWaitMs`
 */
export async function whenDepositCounts<T>(
  clock: Clock,
  { signal, feeWaitMs = FEE_WAIT_MS }: Pick<SubscriptionOptions, 'signal' | 'feeWaitMs'>,
  ask: () => Promise<T>
): Promise<T> {
  const until = clock.elapsed() + feeWaitMs
  for (;;) {
    try {
      return await ask()
    } catch (thrown) {
      const cause = asSoukError(thrown)
      if (cause.code !== 'settlement_pending' || cause.isChargeUnknown) throw thrown
      const { source, notAccepted } = cause
      const pending = new SoukError(cause.code, NOT_YET, { cause, source, notAccepted, retryAfterMs: FEE_PAUSE_MS })
      if (clock.elapsed() + FEE_PAUSE_MS > until) throw pending
      await sleep(clock, FEE_PAUSE_MS, signal).catch(() => {
        throw pending
      })
    }
  }
}
