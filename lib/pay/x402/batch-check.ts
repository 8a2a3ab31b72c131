import type { PaymentPayload } from '@x402/core/types'
import type { Address } from '../../interface/signer.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Admission } from '../../interface/payment-scheme.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import { isSound } from '../signing/voucher.ts'
import type { BatchPayment } from './batch-payment.ts'
import type { Offers } from './offers.ts'

export interface BatchCheckInit {
  readonly parameters: ChainParameters
  readonly domain: SettlementDomain
  readonly offers: Offers
  /** This owner's settlement address. */
  readonly settlement: Address
}

/**
 * Checks that a payment is for this API and signed by the payer of its channel, whatever the channel holds.
 * @throws SoukError `payment_rejected` with the offers; if the channel belongs to another owner of the API, that owner may accept
 * it
 */
export function checkBatch(
  { parameters, domain, offers, settlement }: BatchCheckInit,
  admission: Admission,
  { accepted }: PaymentPayload,
  { config, voucher }: Pick<BatchPayment, 'config' | 'voucher'>
): void {
  const must = (holds: boolean, reason: string, otherwise: string, notAccepted = false): void => {
    if (holds) return
    const detail = `The payment is rejected: ${otherwise}.`
    const refusal = { code: 'payment_rejected', reason: `${ERROR_PREFIX}${reason}`, detail, notAccepted } as const
    throw offers.refuse(admission, refusal)
  }
  must(accepted.network === offers.network, 'network_mismatch', `it is for another network than ${offers.network}`)
  must(config.token === parameters.usdc.address, 'token_mismatch', 'its channel does not hold USDC of this network')
  must(config.receiver === offers.payTo(admission), 'receiver_mismatch', 'its channel pays another provider')
  const isOurs = config.receiverAuthorizer === settlement
  must(isOurs, 'receiver_authorizer_mismatch', 'its channel is with another node that serves this API', true)
  must(domain.channelId(config) === voucher.channelId, 'channel_id_mismatch', 'its voucher is for another channel')
  must(isSound(domain, voucher, config.payerAuthorizer), 'voucher_signature', 'its voucher is not signed by the payer')
}

/** Prefix of the errors that the standard x402 client knows. */
export const ERROR_PREFIX = 'invalid_batch_settlement_evm_'
