import { checkMembers, type MemberRule, type MemberRules, NUMBER } from '../../base/check-members.ts'
import { SoukError } from '../../base/errors.ts'
import { given } from '../../base/given.ts'
import {
  CALL_PRICE_ATOMS_MAX,
  CREDIT_ADDRESS_ATOMS_MAX,
  CREDIT_HOUR_ATOMS_MAX,
  DAILY_ATOMS_MAX,
  DEPOSIT_ATOMS_MAX,
  DEPOSIT_ATOMS_MIN,
  EXACT_ATOMS_MIN,
  EXPOSURE_ATOMS_MAX,
  WINDOW_ATOMS,
  WINDOW_CALLS,
  WITHDRAW_DELAY_S,
  WITHDRAW_DELAY_S_MAX,
  WITHDRAW_DELAY_S_MIN
} from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { CreditRules } from '../payee/deposit-credit.ts'
import type { PayerFundsRules } from './payer-funds.ts'

/** A node's payment settings, as payer and as owner. Each has a default. */
export interface PayRules extends PayerFundsRules, CreditRules {
  /** The highest price of a call without a limit of its own. Default $0.05. */
  readonly priceMax: Atoms
  /** The total that may be signed for in one day (UTC), over all channels. Default $10. */
  readonly dailyMax: Atoms
  /** The deposit for opening or topping up a channel, unless the owner requires more. Default $0.50. */
  readonly deposit: Atoms
  /** The largest deposit that an owner may require. Default $20. */
  readonly depositMax: Atoms
  /** Owner: the minimum deposit, and the minimum withdrawal delay in seconds. Defaults $0.50 and 24 hours. */
  readonly depositMin: Atoms
  readonly withdrawDelay: number
  /** Owner: the lowest price that clients without a node may pay per call (x402 `exact`). Default $0.02. */
  readonly exactMin: Atoms
}

export type AskedPayRules = { readonly [Rule in keyof PayRules]?: PayRules[Rule] | undefined }

const DEFAULTS: PayRules = {
  windowCalls: WINDOW_CALLS,
  windowAtoms: WINDOW_ATOMS,
  exposureMax: EXPOSURE_ATOMS_MAX,
  priceMax: CALL_PRICE_ATOMS_MAX,
  dailyMax: DAILY_ATOMS_MAX,
  deposit: DEPOSIT_ATOMS_MIN,
  depositMax: DEPOSIT_ATOMS_MAX,
  depositMin: DEPOSIT_ATOMS_MIN,
  withdrawDelay: WITHDRAW_DELAY_S,
  exactMin: EXACT_ATOMS_MIN,
  creditHourMax: CREDIT_HOUR_ATOMS_MAX,
  creditAddressMax: CREDIT_ADDRESS_ATOMS_MAX
}

const AMOUNT: MemberRule = {
  fits: (value) => typeof value === 'bigint',
  what: 'an amount as a bigint, such as 50_000n'
}
/** A mistyped limit would be no limit. */
const RULES: MemberRules<AskedPayRules> = {
  windowCalls: NUMBER,
  windowAtoms: AMOUNT,
  exposureMax: AMOUNT,
  priceMax: AMOUNT,
  dailyMax: AMOUNT,
  deposit: AMOUNT,
  depositMax: AMOUNT,
  depositMin: AMOUNT,
  withdrawDelay: NUMBER,
  exactMin: AMOUNT,
  creditHourMax: AMOUNT,
  creditAddressMax: AMOUNT
}

/** Applies the defaults and validates. @throws SoukError `invalid_request` */
export function payRules(asked: AskedPayRules = {}): PayRules {
  checkMembers('The payment rules', asked, RULES)
  const rules = { ...DEFAULTS, ...given(asked) }
  const must = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new SoukError('invalid_request', `The payment rules are invalid: ${otherwise}.`)
  }
  for (const [name, value] of Object.entries(rules)) must(value >= 0, `${name} is below zero`)
  for (const name of ['windowCalls', 'withdrawDelay'] as const)
    must(Number.isSafeInteger(rules[name]), `${name} is not a whole number`)
  must(rules.deposit > 0n && rules.deposit <= rules.depositMax, 'deposit is zero, or above depositMax')
  must(
    rules.withdrawDelay >= WITHDRAW_DELAY_S_MIN && rules.withdrawDelay <= WITHDRAW_DELAY_S_MAX,
    `withdrawDelay has to be between ${WITHDRAW_DELAY_S_MIN} and ${WITHDRAW_DELAY_S_MAX} seconds`
  )
  return rules
}
