import { SoukError } from './errors.ts'

/** USDC atoms: one millionth of a USDC. Souk stores money in this type only, never as a float. */
export type Atoms = bigint

/** Decimals of the USDC token. */
export const USDC_DECIMALS = 6
const ATOMS_PER_USDC = 10n ** BigInt(USDC_DECIMALS)
/** Far above the USDC supply, far below the range of a signed 64-bit column. */
const ATOMS_MAX = 10n ** 15n
/** Amounts whose text is remembered, because calls repeat prices and limits. A text has at most 18 characters. */
const REMEMBERED_MAX = 1_000
const PATTERN = /^(?<whole>0|[1-9]\d{0,9})(?:\.(?<fraction>\d{1,6}))?$/

/**
 * Parses a decimal USDC string such as `0.001`.
 *
 * @throws SoukError `invalid_request` for any sign, exponent, space or more than six decimals
 *
 * @example
 * ```ts
 * import { formatUsdc, parseUsdc } from 'souk'
 *
 * console.log(parseUsdc('0.001')) // 1000n
 * console.log(formatUsdc(3n * parseUsdc('0.001'))) // 0.003
 * ```
 */
export function parseUsdc(text: string): Atoms {
  return parsed(text)
}

/** Whether `parseUsdc` reads this text of a peer. */
export function isUsdc(text: string): boolean {
  return PATTERN.test(text)
}

function readUsdc(text: string): Atoms {
  const match = PATTERN.exec(text)
  if (match?.groups === undefined) {
    throw new SoukError(
      'invalid_request',
      `"${text.slice(0, 40)}" is not an amount in USDC. Write it like 0.001, with at most six decimals.`
    )
  }
  const { whole = '0', fraction = '' } = match.groups
  const atoms = BigInt(whole) * ATOMS_PER_USDC + BigInt(fraction.padEnd(USDC_DECIMALS, '0'))
  if (atoms > ATOMS_MAX) throw new SoukError('invalid_request', 'The amount is too large.')
  return atoms
}

/** Shortest decimal string: `1500n` is `0.0015`, `0n` is `0`. */
export function formatUsdc(atoms: Atoms): string {
  return formatted(atoms)
}

function writeUsdc(atoms: Atoms): string {
  const sign = atoms < 0n ? '-' : ''
  const digits = (atoms < 0n ? -atoms : atoms).toString().padStart(USDC_DECIMALS + 1, '0')
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0+$/, '')
  return sign + digits.slice(0, -USDC_DECIMALS) + (fraction === '' ? '' : `.${fraction}`)
}

const parsed = remembered(readUsdc)
const formatted = remembered(writeUsdc)

/** Keeps up to `REMEMBERED_MAX` results. An error is not kept. */
function remembered<Given, Made>(make: (given: Given) => Made): (given: Given) => Made {
  const results = new Map<Given, Made>()
  return (given) => {
    const known = results.get(given)
    if (known !== undefined) return known
    const made = make(given)
    if (results.size >= REMEMBERED_MAX) results.clear()
    results.set(given, made)
    return made
  }
}
