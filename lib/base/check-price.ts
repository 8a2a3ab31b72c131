import { SoukError } from './errors.ts'
import { type Atoms, formatUsdc } from './money.ts'

/** @throws SoukError `price_exceeds_limit` */
export function checkPrice(price: Atoms, limit: Atoms | undefined): void {
  if (limit === undefined || price <= limit) return
  const [asked, most] = [formatUsdc(price), formatUsdc(limit)]
  throw new SoukError('price_exceeds_limit', `A call costs ${asked} USDC. Your limit is ${most} USDC.`)
}
