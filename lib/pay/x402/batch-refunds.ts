import { EMPTY_BYTES, utf8 } from '../../base/bytes.ts'
import { type Clock, deadline } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { REFUND_WAIT_MS } from '../../base/limits/pay.ts'
import { formatUsdc } from '../../base/money.ts'
import { within } from '../../base/within.ts'
import type { Admission, Reservation } from '../../interface/payment-scheme.ts'
import type { ChannelWatch } from '../../interface/redeem.ts'
import { type DepositService, noDeposit } from '../payee/deposit-service.ts'
import type { PayeeChannel } from '../payee/payee-channel.ts'
import type { PayeeChannels } from '../payee/payee-channels.ts'
import type { RefundService } from '../payee/refund-service.ts'
import type { BatchAnswers } from './batch-answers.ts'
import { ERROR_PREFIX } from './batch-check.ts'
import type { BatchRefund } from './batch-payment.ts'
import type { Asked, Offers } from './offers.ts'
import { unused } from './repeats.ts'

export interface BatchRefundsInit {
  readonly channels: PayeeChannels
  readonly deposits: Pick<DepositService, 'bring' | 'settled'>
  readonly refunds: Pick<RefundService, 'close'>
  readonly watch: Pick<ChannelWatch, 'refresh'>
  readonly offers: Offers
  readonly clock: Clock
}

/**
 * Refunds that the standard client asks for. The owner claims its earnings, sends the rest to the payer and pays the gas, within
 * the bounds of `RefundService`. A partial refund leaves the rest in the closed channel, and the next payment opens it again.
 *
 * The request has no signature of its own: its voucher may be the last one of a call, which is public after a claim. So anybody
 * who has seen it can repeat it. The money can only go to the payer, and each refund is paid once.
 */
export class BatchRefunds {
  readonly #init: BatchRefundsInit
  readonly #answers: BatchAnswers

  constructor(init: BatchRefundsInit, answers: BatchAnswers) {
    this.#init = init
    this.#answers = answers
  }

  /**
   * Refunds, and returns the response. The same request returns the same refund until the channel is used again. The caller has
   * checked the voucher, and runs nothing else on the channel.
   * @throws SoukError `payment_rejected`, `settlement_pending`, `settlement_unavailable`, `overloaded`
   */
  async refund(asked: Admission, request: BatchRefund): Promise<Reservation> {
    const { clock, refunds } = this.#init
    const channel = await this.#channelOf(asked, request)
    const { captured } = channel.payeeFunds
    if (request.voucher.ceiling !== captured) throw this.#answers.mismatch(asked, channel, captured)
    if (!channel.isLeft) this.#checkRest(asked, channel)
    else if (channel.channelState.refundMax !== request.refundMax) throw this.#answers.busy(asked)
    const pending = () => new SoukError('settlement_pending', 'The refund is not mined yet. Repeat the request.')
    const limit = deadline(clock, REFUND_WAIT_MS, pending)
    try {
      await within(refunds.close(channel, request.refundMax), limit.signal)
    } finally {
      limit.clear()
    }
    return this.#answer(asked, channel)
  }

  /** The channel to refund, or the closed one whose refund the request repeats. Reads the chain. */
  async #channelOf(asked: Admission, { config, voucher, refundMax }: BatchRefund): Promise<PayeeChannel> {
    const { channels, deposits, watch } = this.#init
    await deposits.settled(voucher.channelId)
    const known = channels.get(voucher.channelId)
    try {
      if (known === undefined || known.info.peer !== undefined) {
        return (await deposits.bring(noDeposit(config), undefined)).channel
      }
      await watch.refresh([voucher.channelId])
      const isRepeat =
        known.channelState.refundMax === refundMax && (refundMax !== undefined || this.#restOf(known) <= 0n)
      if (known.phase !== 'closed' || (isRepeat && known.channelState.refund !== undefined)) return known
      return (await deposits.bring(noDeposit(config), undefined)).channel
    } catch (thrown) {
      throw asSoukError(thrown).code === 'payment_rejected' ? this.#nothing(asked) : thrown
    }
  }

  #restOf({ info, payeeFunds }: PayeeChannel): bigint {
    const latest = this.#init.channels.snapshot(info.channelId)?.latest
    if (latest === undefined) return 0n
    const spent = latest.claimed > payeeFunds.captured ? latest.claimed : payeeFunds.captured
    return latest.balance - spent
  }

  #checkRest(asked: Asked, channel: PayeeChannel): void {
    if (this.#restOf(channel) <= 0n) throw this.#nothing(asked)
  }

  #nothing(asked: Asked): SoukError {
    const detail = 'The channel holds nothing that could be refunded.'
    return this.#init.offers.refuse(asked, {
      code: 'payment_rejected',
      reason: `${ERROR_PREFIX}refund_no_balance`,
      detail
    })
  }

  #answer(asked: Asked, channel: PayeeChannel): Reservation {
    const { refund } = channel.channelState
    if (refund === undefined) throw this.#nothing(asked)
    const { amount, transaction } = refund
    const body = utf8(JSON.stringify({ refunded: formatUsdc(amount), ...(transaction && { transaction }) }))
    const response = { status: 200, headers: [['content-type', 'application/json']] as const, body }
    const payment = this.#answers.settlement(channel, { transaction, amount })
    const settled = { charged: 0n, receipt: EMPTY_BYTES, payment }
    return { replay: { response, settled }, capture: unused, release: unused }
  }
}
