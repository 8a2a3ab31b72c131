/** First and last code point, both inclusive. */
export type Range = readonly [from: number, to: number]

/** The characters of `ranges` that are in all of the categories: `L` for `\p{L}`, `^L` for `\P{L}`. */
interface Term {
  readonly ranges: readonly Range[]
  readonly categories: ReadonlySet<string>
}

const LAST = 0x10_ffff
const ALL: readonly Range[] = [[0, LAST]]
const NO_CATEGORIES: ReadonlySet<string> = new Set()
/** An intersection of unions can have exponentially many terms. Real patterns need fewer than ten. */
const TERMS_MAX = 64

/**
 * A set of characters: a union of terms. Neither RE2 nor ECMA-262 without the `v` flag can subtract one class from another, but both
 * can write each term as one class, because `A ∩ B` is `[^ …]` around the complements of A and B.
 */
export class CharSet {
  readonly #terms: readonly Term[]

  private constructor(terms: readonly Term[]) {
    this.#terms = terms
  }

  static ofRanges(ranges: readonly Range[]): CharSet {
    return new CharSet(ranges.length === 0 ? [] : [{ ranges: merged(ranges), categories: NO_CATEGORIES }])
  }

  /** The characters of a Unicode general category, such as `Lu`. */
  static ofCategory(name: string): CharSet {
    return new CharSet([{ ranges: ALL, categories: new Set([name]) }])
  }

  static union(sets: readonly CharSet[]): CharSet {
    return new CharSet(joined(sets.flatMap((set) => set.#terms)))
  }

  /** Undefined if the result has too many terms. */
  complement(): CharSet | undefined {
    let terms: readonly Term[] = [{ ranges: ALL, categories: NO_CATEGORIES }]
    for (const { ranges, categories } of this.#terms) {
      const opposite: Term[] = [...categories].map((name) => ({ ranges: ALL, categories: new Set([flipped(name)]) }))
      const others = inverted(ranges)
      if (others.length > 0) opposite.push({ ranges: others, categories: NO_CATEGORIES })
      const next = intersection(terms, opposite)
      if (next === undefined) return undefined
      terms = next
    }
    return new CharSet(terms)
  }

  /** Undefined if the result has too many terms. */
  without(other: CharSet): CharSet | undefined {
    const rest = other.complement()
    const terms = rest && intersection(this.#terms, rest.#terms)
    return terms && new CharSet(terms)
  }

  /** An expression for one character, for RE2 and for ECMA-262 with the `u` flag. */
  toString(): string {
    let ranges: readonly Range[] = []
    let inClass = ''
    const alone: string[] = []
    for (const term of this.#terms) {
      const [category] = term.categories
      if (category === undefined) ranges = term.ranges
      else if (term.categories.size === 1 && isAll(term.ranges)) inClass += property(category)
      else alone.push(`[^${written(inverted(term.ranges))}${[...term.categories].map(flipped).map(property).join('')}]`)
    }
    const all = [...classOf(ranges, inClass), ...alone]
    if (all.length === 0) return `[^${written(ALL)}]`
    return all.length === 1 ? (all[0] ?? '') : `(?:${all.join('|')})`
  }
}

/** An expression that matches exactly this character. */
export function literal(code: number): string {
  if (code === 0x09) return '\\t'
  if (code === 0x0a) return '\\n'
  if (code === 0x0d) return '\\r'
  if (code < 0x20 || code > 0x7e) return `\\u{${code.toString(16).toUpperCase()}}`
  const char = String.fromCodePoint(code)
  return /[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

function classOf(ranges: readonly Range[], properties: string): string[] {
  if (ranges.length === 0 && properties === '') return []
  const rest = inverted(ranges)
  if (properties !== '')
    return ranges.length === 0 && properties.length <= 6 ? [properties] : [`[${written(ranges)}${properties}]`]
  // A set that reaches the last code point is shorter as a complement.
  return [ranges.at(-1)?.[1] === LAST && rest.length > 0 ? `[^${written(rest)}]` : `[${written(ranges)}]`]
}

function written(ranges: readonly Range[]): string {
  const char = (code: number) => (code === 0x2d ? '\\-' : literal(code))
  return ranges
    .map(([from, to]) => (from === to ? char(from) : `${char(from)}${to === from + 1 ? '' : '-'}${char(to)}`))
    .join('')
}

function property(name: string): string {
  return name.startsWith('^') ? `\\P{${name.slice(1)}}` : `\\p{${name}}`
}

function flipped(name: string): string {
  return name.startsWith('^') ? name.slice(1) : `^${name}`
}

function both(one: Term, other: Term): Term | undefined {
  const ranges = inverted(merged([...inverted(one.ranges), ...inverted(other.ranges)]))
  const categories = simplified([...one.categories, ...other.categories])
  return ranges.length === 0 || categories === undefined ? undefined : { ranges, categories }
}

/**
 * The same intersection with fewer categories; undefined if it is empty. Two categories are disjoint unless the name of one, such
 * as `L`, is a prefix of the other, such as `Lu`.
 */
function simplified(names: readonly string[]): ReadonlySet<string> | undefined {
  const [first, ...rest] = names.filter((name) => !name.startsWith('^')).toSorted((a, b) => b.length - a.length)
  const not = names.filter((name) => name.startsWith('^')).map(flipped)
  if (first === undefined) {
    const widest = not.filter((name) => !not.some((other) => other !== name && name.startsWith(other)))
    return new Set(widest.map(flipped))
  }
  if (!rest.every((name) => first.startsWith(name)) || not.some((name) => first.startsWith(name))) return undefined
  return new Set([first, ...not.filter((name) => name.startsWith(first)).map(flipped)])
}

/** Merges the terms without categories, and removes duplicate terms. */
function joined(terms: readonly Term[]): readonly Term[] {
  const ranges: Range[] = []
  const others = new Map<string, Term>()
  for (const term of terms) {
    if (term.categories.size === 0) ranges.push(...term.ranges)
    else others.set(`${[...term.categories].sort().join()} ${term.ranges.join()}`, term)
  }
  const plain: Term[] = ranges.length === 0 ? [] : [{ ranges: merged(ranges), categories: NO_CATEGORIES }]
  const all = [...plain, ...others.values()]
  return all.filter((term) => !all.some((one) => one !== term && isWithin(term, one)))
}

function intersection(one: readonly Term[], other: readonly Term[]): readonly Term[] | undefined {
  if (one.length * other.length > TERMS_MAX) return undefined
  return joined(one.flatMap((a) => other.map((b) => both(a, b)).filter((term) => term !== undefined)))
}

function isWithin(term: Term, other: Term): boolean {
  const outside = inverted(merged([...inverted(term.ranges), ...other.ranges]))
  const implied = (name: string) => simplified([...term.categories, flipped(name)]) === undefined
  return outside.length === 0 && [...other.categories].every(implied)
}

function isAll(ranges: readonly Range[]): boolean {
  return inverted(ranges).length === 0
}

function merged(ranges: readonly Range[]): readonly Range[] {
  const out: Array<[number, number]> = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = out.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else out.push([from, to])
  }
  return out
}

function inverted(ranges: readonly Range[]): readonly Range[] {
  const out: Range[] = []
  let next = 0
  for (const [from, to] of ranges) {
    if (from > next) out.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) out.push([next, LAST])
  return out
}
