import type { Clock } from '../../base/clock.ts'
import { PENDING_LOOK_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelWatch } from '../../interface/redeem.ts'
import type { PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'

export interface DepositLookInit {
  readonly channels: Pick<PayeeChannels, 'shownAt' | 'recount'>
  readonly watch: Pick<ChannelWatch, 'refresh'>
  readonly clock: Pick<Clock, 'elapsed'>
}

/** Reads the chain again for calls whose deposit is mined but does not count in full yet: once per `PENDING_LOOK_MS`. */
export class DepositLook {
  readonly #init: DepositLookInit
  /** On the monotonic clock. */
  #nextAt = 0

  constructor(init: DepositLookInit) {
    this.#init = init
  }

  /**
   * Undefined if the last read covers the call by now, or a new one cannot help or is not due. Otherwise resolves when the chain is read. If
   * the read fails, the old state still decides.
   */
  look(channel: PayeeChannel, price: Atoms): Promise<void> | undefined {
    const { info, payeeFunds } = channel
    const sum = payeeFunds.captured + payeeFunds.reserved + price
    if (sum <= payeeFunds.limit || sum <= payeeFunds.credit) return undefined
    const { channels, watch, clock } = this.#init
    channels.recount(channel, price)
    if (sum <= payeeFunds.limit) return undefined
    const now = clock.elapsed()
    if (sum > channels.shownAt(info.channelId) || now < this.#nextAt) return undefined
    this.#nextAt = now + PENDING_LOOK_MS
    return watch.refresh([info.channelId]).catch(() => {})
  }
}
