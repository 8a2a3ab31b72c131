import type { Builtin, JsonScalar } from './builtin.ts'
import { canonicalDecimal, compareDecimals } from './decimal.ts'
import { type AtomicType, type Facets, NO_FACETS, type SimpleType } from './model.ts'
import { clark, parseClark, type QName } from '../xml/names.ts'
import type { Meter } from '../../pattern/meter.ts'

/** The prefixes of QNames in the content of the current document. */
export interface Prefixes {
  /** The prefixed name for an expanded one. */
  write(namespace: string, name: string): string
  /** The expanded name for a prefixed one, if its prefix is declared. */
  read(text: string): QName | undefined
}

/** The context for writing; the meter is charged for patterns and for each type that is tried. */
export type Writing = Pick<Prefixes, 'write'> & { readonly meter: Meter }
export type Reading = Pick<Prefixes, 'read'> & { readonly meter: Meter }

/** The result of each member of nested unions for one value. A type that occurs in several places is tried once. */
type Tried<T> = Map<SimpleType, T>

/** A rejected value. `rule` completes "must …". */
export class Refusal {
  readonly rule: string
  constructor(rule: string) {
    this.rule = rule
  }
}

/** The cost of trying one member of a union or reading one item of a list, in addition to its text, in steps of a `Meter`. */
const TRY_STEPS = 50
/** The maximum length of a message that lists the rules of a union's members. */
const RULE_CHARS_MAX = 400

export type SimpleJson = JsonScalar | SimpleJson[]

export function normalise(text: string, whitespace: Builtin['whitespace']): string {
  if (whitespace === 'preserve' || !/[\t\n\r ]/.test(text)) return text
  const replaced = text.replaceAll(/[\t\n\r]/g, ' ')
  return whitespace === 'replace' ? replaced : replaced.replaceAll(/ +/g, ' ').trim()
}

/**
 * The lexical form of a JSON value, checked against the type and its facets; or the rule that it breaks.
 * @throws OutOfSteps
 */
export function writeSimple(type: SimpleType, value: unknown, writing: Writing): string | Refusal {
  if (type.kind === 'atomic') return writeAtomic(type, value, writing)
  return type.kind === 'list' ? writeList(type, value, writing) : writeUnion(type, value, writing, new Map())
}

/** Writes without checks, for documents that must be sent exactly as given. */
export function writeUnchecked(type: SimpleType, value: unknown, writing: Writing): string {
  const checked = writeSimple(type, value, writing)
  if (typeof checked === 'string') return checked
  return Array.isArray(value) ? value.map(String).join(' ') : String(value)
}

function writeAtomic(type: AtomicType, value: unknown, { write, meter }: Writing): string | Refusal {
  const { builtin, facets } = type
  // Deployed schemas enumerate values that their base type does not allow, such as `N/A` for a name.
  const isListed = typeof value === 'string' && facets.enumeration?.has(value) === true
  const text = isListed ? value : builtin.write(value)
  if (text === undefined) return new Refusal(`be ${builtin.expects}`)
  if (facets === NO_FACETS && builtin.name !== 'QName') return text
  const broken = brokenFacet(type, facets, normalise(text, builtin.whitespace), meter)
  if (broken !== undefined) {
    const other = builtin.otherForm?.(text)
    const isOther = other !== undefined && brokenFacet(type, facets, other, meter) === undefined
    return isOther ? other : new Refusal(broken)
  }
  if (builtin.name !== 'QName') return text
  const { namespace, name } = parseClark(text)
  return write(namespace, name)
}

function writeList(type: SimpleType & { kind: 'list' }, value: unknown, writing: Writing): string | Refusal {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  const texts: string[] = []
  writing.meter.spend(TRY_STEPS * values.length)
  for (const one of values) {
    const text = writeSimple(type.item, one, writing)
    if (text instanceof Refusal) return new Refusal(`be an array; each of its items must ${text.rule}`)
    if (text === '' || /\s/.test(text)) return new Refusal('be an array of values without white space')
    texts.push(text)
  }
  const { facets } = type
  if (facets.enumeration?.has(texts.join(' ')) === false) return new Refusal(oneOf(facets.enumeration))
  const broken = brokenLength(facets, texts.length, 'items') ?? brokenPattern(facets, texts.join(' '), writing.meter)
  return broken === undefined ? texts.join(' ') : new Refusal(broken)
}

function writeUnion(
  type: SimpleType & { kind: 'union' },
  value: unknown,
  writing: Writing,
  tried: Tried<string | Refusal>
): string | Refusal {
  const known = tried.get(type)
  if (known !== undefined) return known
  const written = writeMember(type, value, writing, tried)
  tried.set(type, written)
  return written
}

function writeMember(
  { members, facets }: SimpleType & { kind: 'union' },
  value: unknown,
  writing: Writing,
  tried: Tried<string | Refusal>
): string | Refusal {
  let rule = ''
  for (const member of members) {
    writing.meter.spend(TRY_STEPS + (typeof value === 'string' ? value.length : 0))
    const text =
      member.kind === 'union' ? writeUnion(member, value, writing, tried) : writeSimple(member, value, writing)
    if (typeof text === 'string') {
      if (facets.enumeration?.has(text) === false) return new Refusal(oneOf(facets.enumeration))
      const broken = brokenPattern(facets, text, writing.meter)
      return broken === undefined ? text : new Refusal(broken)
    }
    if (rule === '') rule = text.rule
    else if (rule.length < RULE_CHARS_MAX && !rule.includes(text.rule)) rule += `, or ${text.rule}`
  }
  return new Refusal(rule)
}

/**
 * The JSON value of received text. Text that does not match the type stays text, because an upstream's error must not hide the
 * rest of its response. An empty text that the type does not allow is null.
 */
export function readSimple(type: SimpleType, text: string, reading: Reading): SimpleJson | null {
  const value = tryRead(type, text, reading, new Map())
  if (value !== undefined) return value
  return text.trim() === '' ? null : text
}

function tryRead(
  type: SimpleType,
  text: string,
  reading: Reading,
  tried: Tried<SimpleJson | undefined>
): SimpleJson | undefined {
  if (type.kind === 'list') {
    const items = normalise(text, 'collapse').split(' ')
    reading.meter.spend(TRY_STEPS * items.length)
    return items[0] === '' ? [] : items.map((item) => tryRead(type.item, item, reading, new Map()) ?? item)
  }
  if (type.kind === 'union') return readUnion(type, text, reading, tried)
  const lexical = normalise(text, type.builtin.whitespace)
  if (type.builtin.name !== 'QName') return type.builtin.read(lexical)
  const name = reading.read(lexical)
  return name === undefined ? lexical : clark(name.namespace, name.name)
}

/** The first member that could also write the value, so that enumerations in a union are distinguished by their values. */
function readUnion(
  type: SimpleType & { kind: 'union' },
  text: string,
  reading: Reading,
  tried: Tried<SimpleJson | undefined>
): SimpleJson | undefined {
  if (tried.has(type)) return tried.get(type)
  const { meter } = reading
  const isWritten = (member: SimpleType, value: SimpleJson) =>
    typeof writeSimple(member, value, { write: clark, meter }) === 'string'
  let found: SimpleJson | undefined
  for (const member of type.members) {
    meter.spend(TRY_STEPS + text.length)
    const value = tryRead(member, text, reading, tried)
    if (value === undefined || !isWritten(member, value)) continue
    found = value
    break
  }
  tried.set(type, found)
  return found
}

const oneOf = (values: ReadonlySet<string>) =>
  `be one of ${[...values].slice(0, 20).join(', ')}${values.size > 20 ? ', …' : ''}`

function brokenFacet(type: AtomicType, facets: Facets, text: string, meter: Meter): string | undefined {
  const { builtin } = type
  if (facets.enumeration !== undefined && !facets.enumeration.has(valueOf(builtin, text))) {
    return oneOf(facets.enumeration)
  }
  // A pattern of a QName applies to its prefix, which JSON does not have.
  const broken = builtin.name === 'QName' ? undefined : brokenPattern(facets, text, meter)
  if (broken !== undefined) return broken
  const unit = builtin.bytes === undefined ? 'characters' : 'bytes'
  // Characters are code points (XML Schema part 2, section 4.3.1). They are counted only if a length facet needs it.
  const length = builtin.bytes?.(text) ?? (hasLengths(facets) ? Array.from(text).length : 0)
  const order = builtin.numeric ? compareNumbers : builtin.compare
  return (
    brokenLength(facets, length, unit) ??
    (order && brokenRange(facets, text, order)) ??
    (builtin.numeric ? brokenDigits(facets, text) : undefined)
  )
}

/** True if two lexical forms have the same value. */
export function sameValue(type: SimpleType, a: string, b: string): boolean {
  if (type.kind !== 'atomic') return normalise(a, 'collapse') === normalise(b, 'collapse')
  const [x, y] = [a, b].map((text) => valueOf(type.builtin, normalise(text, type.builtin.whitespace)))
  return x === y
}

/** A canonical form per value, so that `1.0` equals the enumerated `1`. */
export function valueOf(builtin: Builtin, text: string): string {
  return (builtin.numeric ? canonicalDecimal(text) : undefined) ?? text
}

function brokenPattern({ patterns }: Facets, text: string, meter: Meter): string | undefined {
  const broken = patterns?.find((pattern) => !pattern.test(text, meter))
  return broken && `match the pattern ${broken.source.slice(0, 200)}`
}

function hasLengths(facets: Facets): boolean {
  return facets.length !== undefined || facets.minLength !== undefined || facets.maxLength !== undefined
}

function brokenLength(facets: Facets, length: number, unit: string): string | undefined {
  const { length: exact, minLength, maxLength } = facets
  if (exact !== undefined && length !== exact) return `have exactly ${exact} ${unit}`
  if (minLength !== undefined && length < minLength) return `have at least ${minLength} ${unit}`
  if (maxLength !== undefined && length > maxLength) return `have at most ${maxLength} ${unit}`
  return undefined
}

function brokenRange(
  { minInclusive, maxInclusive, minExclusive, maxExclusive }: Facets,
  text: string,
  order: (a: string, b: string) => number | undefined
): string | undefined {
  const fits = (bound: string | undefined, holds: (compared: number) => boolean) => {
    const compared = bound === undefined ? undefined : order(text, bound)
    return compared === undefined || holds(compared)
  }
  if (!fits(minInclusive, (compared) => compared >= 0)) return `be at least ${minInclusive}`
  if (!fits(maxInclusive, (compared) => compared <= 0)) return `be at most ${maxInclusive}`
  if (!fits(minExclusive, (compared) => compared > 0)) return `be greater than ${minExclusive}`
  return fits(maxExclusive, (compared) => compared < 0) ? undefined : `be less than ${maxExclusive}`
}

function compareNumbers(a: string, b: string): number {
  const [x, y] = [canonicalDecimal(a), canonicalDecimal(b)]
  // Numbers with exponents, INF and NaN are compared as floating-point numbers.
  return x === undefined || y === undefined ? Number(a) - Number(b) : compareDecimals(x, y)
}

function brokenDigits({ totalDigits, fractionDigits }: Facets, text: string): string | undefined {
  if (totalDigits === undefined && fractionDigits === undefined) return undefined
  const canonical = canonicalDecimal(text)
  if (canonical === undefined) return undefined
  const [whole = '', fraction = ''] = canonical.replace('-', '').split('.')
  if (fractionDigits !== undefined && fraction.length > fractionDigits) {
    return `have at most ${fractionDigits} digits after the point`
  }
  const digits = (whole === '0' ? 0 : whole.length) + fraction.length
  return totalDigits !== undefined && digits > totalDigits ? `have at most ${totalDigits} digits` : undefined
}
