import { SoukError } from '../../lib/index.ts'
import type { Money } from '../payments/money.ts'

/** @throws SoukError `settlement_unavailable` */
export function requireMoney(money: Money | undefined): Money {
  if (money !== undefined) return money
  throw new SoukError('settlement_unavailable', 'This node moves no money: it has no wallet, or only counts calls.')
}
