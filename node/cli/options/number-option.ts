import { InvalidArgumentError } from 'commander'

/** A whole number above 0. */
export function wholeNumber(typed: string): number {
  if (!/^[1-9]\d{0,8}$/.test(typed)) throw new InvalidArgumentError('Give a whole number above 0.')
  return Number(typed)
}

/** A whole number. */
export function wholeNumberOr0(typed: string): number {
  return typed === '0' ? 0 : wholeNumber(typed)
}

/** A TCP port; 0 for any free one. */
export function portNumber(typed: string): number {
  const port = /^\d{1,5}$/.test(typed) ? Number(typed) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('Give a port from 0 (any free port) to 65535.')
  return port
}

/** A price: a decimal number with at most six decimals. */
export function decimal(typed: string): string {
  if (!/^\d+(\.\d{1,6})?$/.test(typed))
    throw new InvalidArgumentError('Give a decimal number with at most six decimals, like 0.001.')
  return typed
}

/** An amount to pay or to send. */
export function amount(typed: string): string {
  if (Number(decimal(typed)) === 0) throw new InvalidArgumentError('Give an amount above 0.')
  return typed
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30d`, `12h` or `15m`, in milliseconds. */
export function duration(typed: string): number {
  const match = /^([1-9]\d{0,5})([mhd])$/.exec(typed)
  const unit = UNITS[match?.[2] ?? '']
  if (match === null || unit === undefined) throw new InvalidArgumentError('Give a duration like 30d, 12h or 15m.')
  return Number(match[1]) * unit
}
