import type { PaymentPayload } from '@x402/core/types'
import type { Clock } from '../../base/clock.ts'
import { FOREIGN_TRANSFER_MS, PAYMENT_MARGIN_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import { TOO_MUCH_GAS } from '../chain/chain.ts'
import { type ExactPayment, foreignTransfer, transferCall } from './exact-payment.ts'
import { isSigned } from './exact-signature.ts'
import type { Asked, Offers, Refusal } from './offers.ts'

export interface ExactCheckInit {
  readonly chain: Pick<Chain, 'parameters' | 'block' | 'simulate' | 'balance' | 'code' | 'authorizedTransfer' | 'read'>
  readonly clock: Clock
  readonly offers: Pick<Offers, 'network' | 'payTo' | 'refuse'>
  /** The account that sends the transaction. */
  readonly sender: Address
}

/** A payment that the token accepts. */
export interface Accepted {
  /** Whether the payer's account has code. */
  readonly hasCode: boolean
  /** Gas of the transfer; 0 if another sender has sent it. */
  readonly gas: bigint
}

/**
 * Checks that a payment can be collected now, or that another sender has already collected it for us. Simulates the token's own
 * contract, so that exactly the signatures that it accepts pass: accounts with keys, contracts, and accounts that are both.
 * @param counted called when the token accepts the payment, so it is signed. Returns the minimum balance of the payer's account
 * @throws SoukError `payment_rejected` or `insufficient_funds`, with the offers; `settlement_unavailable`
 */
export async function checkExact(
  { chain, clock, offers, sender }: ExactCheckInit,
  admission: Asked,
  { accepted }: PaymentPayload,
  payment: ExactPayment,
  counted: (accepted: Accepted) => Atoms
): Promise<void> {
  const { usdc } = chain.parameters
  const must = (holds: boolean, reason: string, otherwise: string): void => {
    if (!holds) throw offers.refuse(admission, rejected(reason, otherwise))
  }
  must(accepted.network === offers.network, 'network_mismatch', `it is for another network than ${offers.network}`)
  must(accepted.asset.toLowerCase() === usdc.address, 'asset_mismatch', 'it is not in USDC of this network')
  must(payment.to === offers.payTo(admission), 'recipient_mismatch', 'it goes to another account')
  const isPrice = payment.value === admission.price && accepted.amount === admission.price.toString()
  must(isPrice, 'payload_authorization_value_mismatch', `it is not of ${admission.price} atoms`)
  const mustOutlastCallAt = (now: number): void => {
    const outlasts = payment.validBefore * 1_000n >= now + PAYMENT_MARGIN_MS
    must(outlasts, 'payload_authorization_valid_before', 'it has expired, or will expire before the call ends')
  }
  mustOutlastCallAt(clock.now())
  const [simulation, balance, code, head] = await Promise.all([
    chain.simulate(sender, transferCall(usdc.address, payment)),
    chain.balance(payment.from, 'latest'),
    chain.code(payment.from),
    chain.block('latest')
  ])
  const hasCode = code !== '0x'
  // The clock of this machine may be behind. A payment that expires during the call costs its payer nothing.
  const now = Math.max(clock.now(), head?.at ?? 0)
  mustOutlastCallAt(now)
  if (!simulation.ok) {
    const refusal = refusalOf(simulation.reason)
    const isPaid = async () => {
      if (refusal !== USED || !(await isSigned(chain, payment))) return false
      return (await foreignTransfer(chain, payment, now - FOREIGN_TRANSFER_MS)) !== undefined
    }
    if (await isPaid()) return void counted({ hasCode, gas: 0n })
    throw offers.refuse(admission, refusal)
  }
  if (balance < counted({ hasCode, gas: simulation.gas })) throw offers.refuse(admission, INSUFFICIENT)
}

const INSUFFICIENT: Refusal = {
  code: 'insufficient_funds',
  reason: 'invalid_exact_evm_insufficient_balance',
  detail: 'The payer’s account does not hold the amount of the payment.'
}

function rejected(reason: string, otherwise: string): Refusal {
  return {
    code: 'payment_rejected',
    reason: `invalid_exact_evm_${reason}`,
    detail: `The payment is rejected: ${otherwise}.`
  }
}

const USED = rejected('nonce_already_used', 'its nonce was used already')

/** Error texts of FiatTokenV2_2. */
const REASONS: ReadonlyArray<readonly [RegExp, Refusal]> = [
  [/exceeds balance/i, INSUFFICIENT],
  [/invalid signature|ECRecover/i, rejected('signature', 'its signature is invalid')],
  [/is used or canceled/i, USED],
  [new RegExp(TOO_MUCH_GAS), rejected('signature', 'its payer’s contract takes too much gas to check the signature')],
  [/is expired/i, rejected('payload_authorization_valid_before', 'it has expired')],
  [/is not yet valid/i, rejected('payload_authorization_valid_after', 'it is not valid yet')]
]

function refusalOf(words: string): Refusal {
  const known = REASONS.find(([pattern]) => pattern.test(words))
  return known?.[1] ?? rejected('transaction_simulation_failed', 'the token contract rejects it')
}
