import { SoukError } from '../../base/errors.ts'
import { WITHDRAW_DELAY_S_MAX } from '../../base/limits.ts'
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
 * Everything that has to be true of a channel before an owner gives anything for it, whatever is in it.
 * @throws SoukError `payment_rejected` with what is wrong
 */
export function checkChannel(config: ChannelConfig, rules: ChannelRules): void {
  const { terms, token, receivers } = rules
  const must = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new SoukError('payment_rejected', `The channel is refused: ${otherwise}.`)
  }
  must(config.token === token, 'it does not hold USDC of this network')
  must(receivers.has(config.receiver), 'its receiver is no splitter of a provider served here')
  // Anybody else in this place could give the deposit back to the payer at once, whatever was promised.
  must(config.receiverAuthorizer === terms.settlement, `its receiverAuthorizer is not ${terms.settlement}`)
  // The zero address would have the contract ask the payer's own code, which may say another thing tomorrow.
  must(config.payerAuthorizer !== ZERO_ADDRESS && config.payer !== ZERO_ADDRESS, 'nobody signs for it')
  must(config.withdrawDelay >= terms.withdrawDelay, `its withdrawDelay is under ${terms.withdrawDelay} seconds`)
  must(config.withdrawDelay <= WITHDRAW_DELAY_S_MAX, 'its withdrawDelay is more than the contract takes')
}
