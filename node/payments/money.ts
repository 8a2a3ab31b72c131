import { asSoukError, deadline, formatUsdc, limits, SoukError, systemClock } from '../../lib/index.ts'
import type { ChannelScheme } from '../../lib/pay/index.ts'
import type { Address, Chain } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'
import type { ChainHealth } from './chain-health.ts'

/** The payment parts of a running node. */
export interface Money {
  /** Display name of the currency. */
  readonly name: string
  /** The account that pays for calls as a consumer, and for gas as an owner. */
  readonly wallet: Address
  readonly chain: Chain
  readonly health: ChainHealth
  readonly paymentScheme: ChannelScheme
}

/** Claims earnings within the time limit of a stop. Pending transactions continue at the next start. */
export async function stopWithMoney(money: Money | undefined, log: Log): Promise<void> {
  if (money === undefined) return
  const limit = deadline(systemClock, limits.SETTLE_ON_STOP_MS, () => new SoukError('settlement_pending'))
  try {
    const { claimed } = await money.paymentScheme.settlement.redeemer.settleNow(limit.signal)
    if (claimed > 0n) log.info(`Claimed ${formatUsdc(claimed)} ${money.name} from channels.`)
  } catch (error) {
    log.warn(`Not all earnings could be claimed: ${asSoukError(error).message}`)
  } finally {
    limit.clear()
  }
}
