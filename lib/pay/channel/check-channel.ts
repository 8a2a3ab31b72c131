import { SoukError } from '../../base/errors.ts'
import { WITHDRAW_DELAY_S_MAX } from '../../base/limits/pay.ts'
import type { ChannelConfig } from '../../interface/channel.ts'
import type { Address } from '../../interface/signer.ts'
import { ZERO_ADDRESS } from '../signing/address.ts'
import type { Terms } from './pay-messages.ts'

export interface ChannelRules {
  readonly terms: Terms
  readonly token: Address
  /** Splitters of the providers whose APIs this node serves. */
  readonly receivers: ReadonlySet<Address>
}

/**
 * Checks all that must hold for any channel before an owner serves a call for it.
 * @throws SoukError `payment_rejected` with the reason
 */
export function checkChannel(config: ChannelConfig, rules: ChannelRules): void {
  const { terms, token, receivers } = rules
  const must = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new SoukError('payment_rejected', `The channel is rejected: ${otherwise}.`)
  }
  must(config.token === token, 'it does not hold USDC of this network')
  must(receivers.has(config.receiver), 'its receiver is no splitter of a provider served here')
  // Any other receiverAuthorizer could return the deposit to the payer at once.
  must(config.receiverAuthorizer === terms.settlement, `its receiverAuthorizer is not ${terms.settlement}`)
  // With the zero address, the contract would ask the payer's own code, which may later respond differently.
  must(
    config.payerAuthorizer !== ZERO_ADDRESS && config.payer !== ZERO_ADDRESS,
    'its payer or payerAuthorizer is the zero address'
  )
  must(config.withdrawDelay >= terms.withdrawDelay, `its withdrawDelay is under ${terms.withdrawDelay} seconds`)
  must(config.withdrawDelay <= WITHDRAW_DELAY_S_MAX, 'its withdrawDelay is above the maximum of the contract')
}
