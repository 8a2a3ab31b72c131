import { PATTERN_CHARS_MAX } from '../../lib/base/limits/descriptions.ts'
import { foreignNotation } from './foreign-notation.ts'
import { type LinearPattern, linearPattern, PatternRefused } from './linear-pattern.ts'
import { parses } from './unicode-pattern.ts'

/**
 * Compiles a regular expression of JSON Schema, in the syntax of ECMA-262: with the flag `u`, or without it if only that parses.
 * Texts are compared by code points, as with `u`.
 *
 * @throws PatternRefused for features that RE2 lacks (look-around, back references, more than 1000 repetitions) and for invalid
 * expressions
 */
export function ecmaPattern(pattern: string): LinearPattern {
  return linearPattern(translated(pattern))
}

/** The same expression in the syntax of RE2. @throws PatternRefused */
function translated(pattern: string): string {
  if (pattern.length > PATTERN_CHARS_MAX) throw new PatternRefused(`is longer than ${PATTERN_CHARS_MAX} characters`)
  if (!isEcma(pattern)) throw new PatternRefused('is not a regular expression of ECMA-262')
  const foreign = foreignNotation(pattern)
  if (foreign !== undefined) throw new PatternRefused(foreign)
  return new Translation(pattern).whole()
}

/** True if it parses as ECMA-262, with or without the flag `u`. It is not run. */
export function isEcma(pattern: string): boolean {
  return ['u', ''].some((flags) => parses(pattern, flags))
}

/** WhiteSpace and LineTerminator of ECMA-262, wider than the `\s` of RE2. */
const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x16_80, 0x16_80],
  [0x20_00, 0x20_0a],
  [0x20_28, 0x20_29],
  [0x20_2f, 0x20_2f],
  [0x20_5f, 0x20_5f],
  [0x30_00, 0x30_00],
  [0xfe_ff, 0xfe_ff]
]
const LAST = 0x10_ff_ff
const ANYTHING = String.raw`[\x{0}-\x{10ffff}]`
const NOTHING = String.raw`[^\x{0}-\x{10ffff}]`
const NOT_LINE_END = String.raw`[^\n\r\x{2028}\x{2029}]`
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d }
const REPEATED = /^\{\d+(?:,\d*)?\}/
const PROPERTY = /^\{(?:(?:General_Category|gc|Script|sc)=)?(\w+)\}/

type Range = readonly [first: number, last: number]
/** One member of a class: a character, or a set in the notation of an RE2 class. */
type Atom = number | string

const written = (point: number): string => {
  const char = String.fromCodePoint(point)
  return /^[0-9A-Za-z]$/.test(char) ? char : `\\x{${point.toString(16)}}`
}
const writtenRanges = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => (first === last ? written(first) : `${written(first)}-${written(last)}`)).join('')

function complement(ranges: readonly Range[]): Range[] {
  const firsts = [0, ...ranges.map(([, last]) => last + 1)]
  const lasts = [...ranges.map(([first]) => first - 1), LAST]
  return firsts.map((first, at): Range => [first, lasts[at] ?? LAST])
}

/** Sets in the notation of an RE2 class. `\d` and `\w` are ASCII in both languages. */
const SETS: Readonly<Record<string, string>> = {
  d: String.raw`\d`,
  D: String.raw`\D`,
  w: String.raw`\w`,
  W: String.raw`\W`,
  s: writtenRanges(SPACES),
  S: writtenRanges(complement(SPACES))
}

/** Translates an expression that parses as ECMA-262, from left to right. */
class Translation {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): string {
    let out = ''
    while (this.#at < this.#text.length) out += this.#next()
    return out
  }

  #next(): string {
    const char = this.#take()
    switch (char) {
      case '^':
        return String.raw`\A`
      case '$':
        return String.raw`\z`
      case '.':
        return NOT_LINE_END
      case '(':
        return this.#group()
      case '[':
        return this.#class()
      case '\\':
        return this.#escape()
      case '{':
        return this.#repeat()
      case ')':
      case '|':
      case '*':
      case '+':
      case '?':
        return char
      default:
        return written(char.codePointAt(0) ?? 0)
    }
  }

  /** Groups do not capture, because only the match itself matters. */
  #group(): string {
    if (!this.#skip('?')) return '(?:'
    if (this.#skip(':')) return '(?:'
    const named = /^<[^=!][^>]*>/.exec(this.#rest(64))?.[0]
    if (named === undefined)
      throw new PatternRefused('looks around or changes flags, which cannot be matched in linear time')
    this.#at += named.length
    return '(?:'
  }

  /** Without the flag `u`, a brace that is not a repetition is a literal character. */
  #repeat(): string {
    const [digits] = REPEATED.exec(`{${this.#rest(40)}`) ?? []
    if (digits === undefined) return written(0x7b)
    this.#at += digits.length - 1
    return digits
  }

  #escape(): string {
    const next = this.#text[this.#at] ?? ''
    if (next === 'b' || next === 'B') {
      this.#at++
      return `\\${next}`
    }
    if (next === 'k' || /[1-9]/.test(next)) {
      throw new PatternRefused('refers back to a group, which cannot be matched in linear time')
    }
    const atom = this.#escaped()
    return typeof atom === 'number' ? written(atom) : `[${atom}]`
  }

  /** Parses the escape after a backslash, in a class or outside. */
  #escaped(): Atom {
    const char = this.#take()
    const set = SETS[char]
    if (set !== undefined) return set
    const control = CONTROLS[char]
    if (control !== undefined) return control
    if (char === 'p' || char === 'P') return this.#property(char)
    if (char === 'x') return this.#hex(/^[0-9a-fA-F]{2}/)
    if (char === 'u') return this.#unicode()
    if (char === 'c') return this.#control()
    if (char === '0' && !/^\d/.test(this.#rest(1))) return 0
    if (/[a-zA-Z0-9]/.test(char)) throw new PatternRefused(`has \\${char}, which is not a part of ECMA-262`)
    return char.codePointAt(0) ?? 0
  }

  #property(kind: string): string {
    const [whole, name] = PROPERTY.exec(this.#rest(80)) ?? []
    if (whole === undefined || name === undefined) throw new PatternRefused('has a property that is not supported')
    this.#at += whole.length
    return `\\${kind}{${name}}`
  }

  #hex(digits: RegExp): number {
    const [found] = digits.exec(this.#rest(8)) ?? []
    if (found === undefined) throw new PatternRefused('has an escape that is not complete')
    this.#at += found.length
    return Number.parseInt(found, 16)
  }

  #unicode(): number {
    const [braced, point] = /^\{0*([0-9a-fA-F]{1,6})\}/.exec(this.#rest(80)) ?? []
    if (braced !== undefined && point !== undefined) {
      this.#at += braced.length
      return Number.parseInt(point, 16)
    }
    const first = this.#hex(/^[0-9a-fA-F]{4}/)
    const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.#rest(6))?.[1]
    if (first < 0xd8_00 || first > 0xdb_ff || low === undefined) return first
    this.#at += 6
    return 0x1_00_00 + ((first - 0xd8_00) << 10) + (Number.parseInt(low, 16) - 0xdc_00)
  }

  #control(): number {
    const letter = this.#take()
    if (!/^[a-zA-Z]$/.test(letter)) throw new PatternRefused('has an escape that is not complete')
    return (letter.codePointAt(0) ?? 0) % 32
  }

  #class(): string {
    const isNegated = this.#skip('^')
    let members = ''
    while (!this.#skip(']')) members += this.#member()
    if (members === '') return isNegated ? ANYTHING : NOTHING
    return `[${isNegated ? '^' : ''}${members}]`
  }

  #member(): string {
    const first = this.#atom()
    const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']'
    if (!isRange) return one(first)
    this.#at++
    const last = this.#atom()
    // Without the flag `u`, a hyphen beside a set is a literal hyphen.
    if (typeof first === 'string' || typeof last === 'string') return one(first) + written(0x2d) + one(last)
    return writtenRanges([[first, last]])
  }

  #atom(): Atom {
    const char = this.#take()
    if (char !== '\\') return char.codePointAt(0) ?? 0
    if (this.#skip('b')) return 0x08
    return this.#escaped()
  }

  #take(): string {
    const point = this.#text.codePointAt(this.#at)
    if (point === undefined) throw new PatternRefused('ends too early')
    const char = String.fromCodePoint(point)
    this.#at += char.length
    return char
  }

  #skip(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #rest(chars: number): string {
    return this.#text.slice(this.#at, this.#at + chars)
  }
}

function one(atom: Atom): string {
  return typeof atom === 'number' ? written(atom) : atom
}
