import { SoukError } from './souk-error.ts'

/** USDC has six decimals. */
const DECIMALS = 6

/**
 * A price in millionths of a USDC.
 * @throws SoukError `invalid_request` for anything but a decimal string with at most six decimals
 */
export function atomsOf(price: string): bigint {
  const [, whole = '', decimals = ''] = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(price) ?? []
  if (whole === '') throw new SoukError('invalid_request', `maxPrice must be a decimal string in USDC, such as '0.01'.`)
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'))
}
