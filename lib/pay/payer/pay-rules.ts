import { SoukError } from '../../base/errors.ts'
import {
  CALL_PRICE_ATOMS_MAX,
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
} from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { PurseRules } from './purse.ts'

/** What a node decides about paying and being paid. Everything has a default. */
export interface PayRules extends PurseRules {
  /** The dearest call that is paid where the call itself says nothing. Default $0.05. */
  readonly priceMax: Atoms
  /** What is signed for in one day (UTC), over all channels. Default $10. */
  readonly dailyMax: Atoms
  /** What is deposited when a channel is opened or topped up, unless the owner asks for more. Default $0.50. */
  readonly deposit: Atoms
  /** The largest deposit an owner can ask for. Default $20. */
  readonly depositMax: Atoms
  /** As an owner: the least deposit, and the least delay of a withdrawal in seconds. Defaults $0.50 and 24 hours. */
  readonly depositMin: Atoms
  readonly withdrawDelay: number
  /** As an owner: the least price that clients without a node can pay call by call (x402 `exact`). Default $0.02. */
  readonly exactMin: Atoms
}

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
  exactMin: EXACT_ATOMS_MIN
}

/** Checks once, defaults once. @throws SoukError `invalid_request` */
export function payRules(asked: Partial<PayRules> = {}): PayRules {
  const rules = { ...DEFAULTS, ...asked }
  const must = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new SoukError('invalid_request', `The rules of payment are wrong: ${otherwise}.`)
  }
  for (const [name, value] of Object.entries(rules)) must(value >= 0, `${name} is below zero`)
  must(Number.isSafeInteger(rules.windowCalls), 'windowCalls is no whole number')
  must(rules.deposit > 0n && rules.deposit <= rules.depositMax, 'deposit is zero, or above depositMax')
  must(
    rules.withdrawDelay >= WITHDRAW_DELAY_S_MIN && rules.withdrawDelay <= WITHDRAW_DELAY_S_MAX,
    `withdrawDelay is between ${WITHDRAW_DELAY_S_MIN} and ${WITHDRAW_DELAY_S_MAX} seconds`
  )
  return rules
}
