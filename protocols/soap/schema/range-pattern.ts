import { canonicalDecimal } from './decimal.ts'

/*
 * Ranges of decimal numbers as regular expressions, for numbers that JSON has as text. The whole text must be a decimal number,
 * which another pattern checks.
 */

/** Matches the numbers from `bound` on, without it if `isOpen`. */
export function atLeastPattern(bound: string, isOpen: boolean): string {
  const { negative, digits } = parts(bound)
  return negative ? `^(?:\\+?[\\d.]+|-0*(?:${upTo(digits, isOpen)}))$` : `^\\+?0*(?:${from(digits, isOpen)})$`
}

/** Matches the numbers up to `bound`, without it if `isOpen`. */
export function atMostPattern(bound: string, isOpen: boolean): string {
  const { negative, digits } = parts(bound)
  return negative ? `^-0*(?:${from(digits, isOpen)})$` : `^(?:-[\\d.]+|\\+?0*(?:${upTo(digits, isOpen)}))$`
}

interface Digits {
  /** Empty for a number below 1. */
  readonly whole: string
  readonly fraction: string
}

/** The pattern for integers, which is shorter. */
export function wholePattern(pattern: string): string {
  return pattern.replaceAll(FRACTION, '').replaceAll('[\\d.]', '\\d')
}

function parts(bound: string): { readonly negative: boolean; readonly digits: Digits } {
  const canonical = canonicalDecimal(bound.trim()) ?? '0'
  const [whole = '', fraction = ''] = canonical.replace('-', '').split('.')
  return { negative: canonical.startsWith('-'), digits: { whole: whole === '0' ? '' : whole, fraction } }
}

const FRACTION = '(?:\\.\\d*)?'
const NOTHING = '[^\\s\\S]'

/** Unsigned numbers up to the given one. Leading zeros are matched before. */
function upTo({ whole, fraction }: Digits, isOpen: boolean): string {
  const smaller = below(whole, (left) => `\\d{${left}}`)
  if (whole.length > 1) smaller.push(`\\d{1,${whole.length - 1}}`)
  if (whole !== '') smaller.push('')
  const all = smaller.map((text) => text + FRACTION)
  // A fraction that breaks off is smaller.
  const tails = [...below(fraction, () => '\\d*'), ...Array.from(fraction, (_, at) => `${fraction.slice(0, at)}0*`)]
  if (!isOpen) tails.push(`${fraction}0*`)
  if (tails.length > 0) all.push(`${whole}(?:\\.(?:${tails.join('|')}))?`)
  return all.length === 0 ? NOTHING : all.join('|')
}

/** Unsigned numbers from the given one on. Leading zeros are matched before. */
function from({ whole, fraction }: Digits, isOpen: boolean): string {
  const larger = [...above(whole, (left) => `\\d{${left}}`), `[1-9]\\d{${whole.length},}`]
  const all = larger.map((text) => text + FRACTION)
  const tails = [...above(fraction, () => '\\d*'), isOpen ? `${fraction}0*[1-9]\\d*` : `${fraction}\\d*`]
  all.push(`${whole}${!isOpen && fraction === '' ? FRACTION : `\\.(?:${tails.join('|')})`}`)
  return all.join('|')
}

/** Texts with a lower digit at the first difference, for each position; `rest` matches what follows it. */
function below(digits: string, rest: (left: number) => string): string[] {
  return Array.from(digits, (digit, at) =>
    digit === '0' ? [] : [`${digits.slice(0, at)}[0-${Number(digit) - 1}]${rest(digits.length - at - 1)}`]
  ).flat()
}

function above(digits: string, rest: (left: number) => string): string[] {
  return Array.from(digits, (digit, at) =>
    digit === '9' ? [] : [`${digits.slice(0, at)}[${Number(digit) + 1}-9]${rest(digits.length - at - 1)}`]
  ).flat()
}
