import { canonicalDecimal, compareDecimals } from './decimal.ts'
import type { Direction, Schema } from './direction.ts'
import type { AtomicType, Facets } from './model.ts'
import { atLeastPattern, atMostPattern, wholePattern } from './range-pattern.ts'

interface Bound {
  readonly value: string
  readonly isOpen: boolean
}

interface Range {
  readonly min: Bound | undefined
  readonly max: Bound | undefined
}

/** A double holds decimals of so many digits exactly. */
const EXACT_DIGITS = 15
const SAFE: Range = {
  min: { value: String(Number.MIN_SAFE_INTEGER), isOpen: false },
  max: { value: String(Number.MAX_SAFE_INTEGER), isOpen: false }
}

/** A number by its range and digits: a JSON number, or text where a JSON number is not exact. Patterns are not included. */
export function numberSchema({ builtin, facets }: AtomicType, direction: Direction): Schema {
  const own = rangeOf(facets)
  if (direction === 'output') return { ...builtin.schema, ...boundsOf(within(own, isSafe)) }
  const isOnlyText = facets.patterns !== undefined
  if (builtin.name === 'float' || builtin.name === 'double') {
    if (isOnlyText) return { ...builtin.schema, type: 'string' }
    return own.min === undefined && own.max === undefined ? builtin.schema : { type: 'number', ...boundsOf(own) }
  }
  const [least, greatest] = builtin.range ?? []
  const range = narrower(own, { min: closed(least), max: closed(greatest) })
  const isInteger = builtin.range !== undefined
  const numbers = numbersOf(facets, range, isInteger)
  if (isInteger && !isOnlyText && isSafe(range.min) && isSafe(range.max)) return numbers
  const patterns = [
    ...(range.min === undefined ? [] : [atLeastPattern(range.min.value, range.min.isOpen)]),
    ...(range.max === undefined ? [] : [atMostPattern(range.max.value, range.max.isOpen)]),
    ...(facets.fractionDigits === undefined ? [] : [`^[^.]*(?:\\.\\d{0,${facets.fractionDigits}}0*)?$`]),
    ...(facets.totalDigits === undefined ? [] : [`^[+-]?0*(?:\\.?\\d){0,${facets.totalDigits}}\\.?$`])
  ]
  return {
    ...(isOnlyText ? {} : numbers),
    type: isOnlyText ? 'string' : [numbers.type, 'string'],
    pattern: isInteger ? '^[+-]?\\d+$' : builtin.schema['pattern'],
    ...(patterns.length === 0
      ? {}
      : { allOf: patterns.map((pattern) => ({ pattern: isInteger ? wholePattern(pattern) : pattern })) })
  }
}

/** JSON numbers. Those with a fraction are text if their digits are limited: validators do not count the digits of a double. */
function numbersOf({ totalDigits, fractionDigits }: Facets, range: Range, isInteger: boolean): Schema {
  const digits = totalDigits === undefined ? undefined : '9'.repeat(Math.min(totalDigits, EXACT_DIGITS))
  const limits = digits === undefined ? range : narrower(range, { min: closed(`-${digits}`), max: closed(digits) })
  const isWhole = isInteger || totalDigits !== undefined || fractionDigits !== undefined
  return { type: isWhole ? 'integer' : 'number', ...boundsOf(isWhole ? narrower(limits, SAFE) : limits) }
}

function rangeOf({ minInclusive, minExclusive, maxInclusive, maxExclusive }: Facets): Range {
  const open = (value: string | undefined) => (value === undefined ? undefined : { value, isOpen: true })
  return narrower(
    { min: closed(minInclusive), max: closed(maxInclusive) },
    { min: open(minExclusive), max: open(maxExclusive) }
  )
}

function closed(value: string | undefined): Bound | undefined {
  return value === undefined ? undefined : { value, isOpen: false }
}

function narrower(a: Range, b: Range): Range {
  const stricter = (x: Bound | undefined, y: Bound | undefined, sign: 1 | -1): Bound | undefined => {
    if (x === undefined || y === undefined) return x ?? y
    const order = sign * compared(x.value, y.value)
    return order > 0 || (order === 0 && x.isOpen) ? x : y
  }
  return { min: stricter(a.min, b.min, 1), max: stricter(a.max, b.max, -1) }
}

function within({ min, max }: Range, is: (bound: Bound | undefined) => boolean): Range {
  return { min: is(min) ? min : undefined, max: is(max) ? max : undefined }
}

function isSafe(bound: Bound | undefined): boolean {
  return bound !== undefined && Number.isSafeInteger(Number(bound.value))
}

/** Bounds with an exponent, of floating-point numbers, are not decimals. */
function compared(a: string, b: string): number {
  const [x, y] = [canonicalDecimal(a), canonicalDecimal(b)]
  return x === undefined || y === undefined ? Number(a) - Number(b) : compareDecimals(x, y)
}

function boundsOf({ min, max }: Range): Schema {
  return {
    ...(min === undefined ? {} : { [min.isOpen ? 'exclusiveMinimum' : 'minimum']: Number(min.value) }),
    ...(max === undefined ? {} : { [max.isOpen ? 'exclusiveMaximum' : 'maximum']: Number(max.value) })
  }
}
