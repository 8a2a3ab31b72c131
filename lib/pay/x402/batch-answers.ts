import type { SoukError } from '../../base/errors.ts'
import { toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { PayeeChannel } from '../payee/payee-channel.ts'
import type { PayeeChannels } from '../payee/payee-channels.ts'
import { checksummed } from '../signing/address.ts'
import { ERROR_PREFIX } from './batch-check.ts'
import type { Extensions } from './offer-receipt.ts'
import type { Asked, Offers } from './offers.ts'
import { writeSettlement } from './payment-text.ts'

/** Result of a payment or refund, in x402 terms. */
export interface BatchResult {
  /** Hash of the deposit or refund. Empty if there was none, or if it is unknown. */
  readonly transaction?: string | undefined
  /** Amount of the deposit or refund. */
  readonly amount?: Atoms | undefined
  /** Charge of the call. Absent for a refund. */
  readonly charged?: Atoms
  readonly extensions?: Extensions
}

/** Responses of the `batch-settlement` scheme. Each has the channel's state, from which a client continues. */
export class BatchAnswers {
  readonly #offers: Offers
  readonly #channels: Pick<PayeeChannels, 'snapshot'>

  constructor(offers: Offers, channels: Pick<PayeeChannels, 'snapshot'>) {
    this.#offers = offers
    this.#channels = channels
  }

  /** The channel's last known state on chain, and its charged total. */
  state({ info, payeeFunds }: PayeeChannel): Record<string, unknown> {
    const latest = this.#channels.snapshot(info.channelId)?.latest
    return {
      channelId: info.channelId,
      balance: (latest?.balance ?? 0n).toString(),
      totalClaimed: (latest?.claimed ?? 0n).toString(),
      withdrawRequestedAt: Math.floor((latest?.withdrawal?.since ?? 0) / 1_000),
      refundNonce: (latest?.refundNonce ?? 0n).toString(),
      chargedCumulativeAmount: payeeFunds.captured.toString()
    }
  }

  /** The error for a voucher that is not for `due`. A client that can read the chain continues from the state in it. */
  mismatch(asked: Asked, channel: PayeeChannel, due: Atoms): SoukError {
    const { voucher, payeeFunds } = channel
    const last = voucher && {
      voucherState: { signedMaxClaimable: payeeFunds.ceiling.toString(), signature: toHex(voucher.signature) }
    }
    return this.#offers.refuse(asked, {
      code: 'payment_rejected',
      reason: `${ERROR_PREFIX}cumulative_amount_mismatch`,
      detail: `The voucher has the wrong amount. It has to be for ${due} atoms. ${LOST_STATE}`,
      extra: { channelState: this.state(channel), ...last }
    })
  }

  busy(asked: Asked): SoukError {
    return this.#offers.refuse(asked, {
      code: 'payment_rejected',
      reason: `${ERROR_PREFIX}channel_busy`,
      detail: 'Another call on the channel is running. A channel carries one call at a time.'
    })
  }

  /** The value of a `PAYMENT-RESPONSE` header. */
  settlement(channel: PayeeChannel, { transaction = '', amount, charged, extensions }: BatchResult): string {
    return writeSettlement({
      success: true,
      payer: checksummed(channel.info.config.payer),
      transaction,
      network: this.#offers.network,
      amount: amount?.toString() ?? '',
      ...(extensions && { extensions }),
      extra: {
        channelState: this.state(channel),
        ...(charged === undefined ? {} : { chargedAmount: charged.toString() })
      }
    })
  }
}

const LOST_STATE =
  'A client that lost its channel state reads it from the chain: give it a signer with readContract, or a storage on disk.'
