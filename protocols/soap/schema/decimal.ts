/** Decimal numbers as text, because xs:decimal has no limit of digits and a JavaScript number has. */

/** XML Schema part 2, section 3.2.3.1. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

/** The shortest form: no plus sign, no redundant zeros. Undefined for text that is not a decimal number. */
export function canonicalDecimal(text: string): string | undefined {
  if (!DECIMAL.test(text)) return undefined
  const unsigned = text.replace(/^[+-]?0*/, '')
  const [whole = '', fraction = ''] = unsigned.split('.')
  let end = fraction.length
  while (fraction[end - 1] === '0') end--
  const digits = (whole === '' ? '0' : whole) + (end === 0 ? '' : `.${fraction.slice(0, end)}`)
  return text.startsWith('-') && digits !== '0' ? `-${digits}` : digits
}

/** The number without an exponent, which xs:decimal does not allow. */
export function plainDecimal(value: number): string {
  const printed = String(value)
  if (!printed.includes('e')) return printed
  const [digits = '', exponent] = printed.split('e')
  if (exponent === undefined) return digits === '-0' ? '0' : digits
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits) ?? []
  const point = whole.length + Number(exponent)
  const all = whole + fraction
  const text =
    point <= 0 ? `0.${'0'.repeat(-point)}${all}` : `${all.padEnd(point, '0').slice(0, point)}.${all.slice(point)}`
  return sign + text.replace(/\.$/, '')
}

/** True if the nearest JavaScript number prints the same digits. */
export function isExactNumber(canonical: string): boolean {
  return canonical.length <= 24 && plainDecimal(Number(canonical)) === canonical
}

/** Negative, zero or positive if `a` is below, equal to or above `b`. Both must be canonical. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = [parts(a), parts(b)]
  if (x.negative !== y.negative) return x.negative ? -1 : 1
  const size = x.whole.length - y.whole.length || compare(x.whole, y.whole) || compare(x.fraction, y.fraction)
  return x.negative && size !== 0 ? -size : size
}

function parts(text: string): { negative: boolean; whole: string; fraction: string } {
  const negative = text.startsWith('-')
  const [whole = '', fraction = ''] = (negative ? text.slice(1) : text).split('.')
  return { negative, whole, fraction }
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
