import { asSoukError, deadline, formatUsdc, limits, SoukError, systemClock } from '../../lib/index.ts'
import type { ChannelScheme } from '../../lib/pay/index.ts'
import type { Address, Chain } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'

/** The money side of a running node, for whoever shows and steers it. */
export interface Money {
  /** What it is called on this network. */
  readonly name: string
  /** The account that pays calls as a consumer, and gas as an owner. */
  readonly wallet: Address
  readonly chain: Chain
  readonly paymentScheme: ChannelScheme
}

/** Fetches what was earned, as far as it goes before the node has to stop; what is on its way goes on at the next start. */
export async function stopWithMoney(money: Money | undefined, log: Log): Promise<void> {
  if (money === undefined) return
  const limit = deadline(systemClock, limits.SETTLE_ON_STOP_MS, () => new SoukError('settlement_pending'))
  try {
    const { claimed } = await money.paymentScheme.settlement.redeemer.settleNow(limit.signal)
    if (claimed > 0n) log.info(`Fetched ${formatUsdc(claimed)} ${money.name} from channels.`)
  } catch (error) {
    log.warn(`Not everything that was earned could be fetched: ${asSoukError(error).message}`)
  } finally {
    limit.clear()
  }
}
