import { CharSet, literal, type Range } from './char-set.ts'
import { blockNamed } from './unicode-blocks.ts'

/** Nested groups and subtractions. Real patterns need fewer than five. */
const NESTING_MAX = 50
/** Quantifiers of one character. `COUNTED` matches the others. */
const QUANTIFIERS: ReadonlySet<string> = new Set(['?', '*', '+'])
const COUNTED = /^\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/
/** General categories (XML Schema part 2, section F.1.1). Surrogates (`Cs`) are not XML characters. */
const CATEGORY = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/

const SPACE = CharSet.ofRanges([0x20, 0x09, 0x0a, 0x0d].map((code) => [code, code] as const))
const ANY_BUT_LINE_END = complementOf(
  CharSet.ofRanges([
    [0x0a, 0x0a],
    [0x0d, 0x0d]
  ])
)
/** NameStartChar and NameChar of XML 1.0, fifth edition. */
const NAME_START: readonly Range[] = [
  [0x3a, 0x3a],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
  [0xc0, 0xd6],
  [0xd8, 0xf6],
  [0xf8, 0x2ff],
  [0x370, 0x37d],
  [0x37f, 0x1fff],
  [0x200c, 0x200d],
  [0x2070, 0x218f],
  [0x2c00, 0x2fef],
  [0x3001, 0xd7ff],
  [0xf900, 0xfdcf],
  [0xfdf0, 0xfffd],
  [0x1_0000, 0xe_ffff]
]
const NAME: readonly Range[] = [
  ...NAME_START,
  [0x2d, 0x2e],
  [0x30, 0x39],
  [0xb7, 0xb7],
  [0x300, 0x36f],
  [0x203f, 0x2040]
]

/** Multi-character escapes in lower case. Upper-case escapes are their complements. */
const ESCAPES: ReadonlyMap<string, CharSet> = new Map([
  ['s', SPACE],
  ['i', CharSet.ofRanges(NAME_START)],
  ['c', CharSet.ofRanges(NAME)],
  ['d', CharSet.ofCategory('Nd')],
  // All characters except punctuation, separators and others: these four are the remaining top-level categories.
  ['w', CharSet.union(['L', 'M', 'N', 'S'].map((name) => CharSet.ofCategory(name)))]
])
const SINGLE: ReadonlyMap<string, number> = new Map([
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09]
])

/** The pattern is invalid or cannot be translated. */
class Untranslatable extends Error {}

/**
 * Translates a pattern of XML Schema (part 2, appendix F) to ECMA-262 with the `u` flag, which RE2 accepts as well. The result is
 * not anchored. Undefined if the pattern is malformed, is nested too deeply, or names an unknown block.
 */
export function translatePattern(pattern: string): string | undefined {
  try {
    return new Translation(pattern).whole()
  } catch (error) {
    if (error instanceof Untranslatable) return undefined
    throw error
  }
}

class Translation {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): string {
    const expression = this.#alternatives()
    if (this.#at < this.#text.length) throw new Untranslatable()
    return expression
  }

  #alternatives(): string {
    let out = ''
    for (let char = this.#peek(); char !== '' && char !== ')'; char = this.#peek()) {
      if (char !== '|') out += this.#piece()
      else {
        out += '|'
        this.#at++
      }
    }
    return out
  }

  #piece(): string {
    const atom = this.#atom()
    const char = this.#peek()
    const counted = char === '{' ? COUNTED.exec(this.#text.slice(this.#at, this.#at + 24)) : null
    if (counted !== null) {
      const [whole, least, , most] = counted
      if (most !== undefined && Number(most) < Number(least)) throw new Untranslatable()
      this.#at += whole.length
      this.#noQuantifier()
      return atom + whole
    }
    if (!QUANTIFIERS.has(char)) return atom
    this.#at++
    this.#noQuantifier()
    return atom + char
  }

  /** Lazy and possessive quantifiers belong to Perl; XML Schema allows no two quantifiers in a row. */
  #noQuantifier(): void {
    if (QUANTIFIERS.has(this.#peek()) || COUNTED.test(this.#text.slice(this.#at, this.#at + 24)))
      throw new Untranslatable()
  }

  #atom(): string {
    const char = this.#peek()
    if (char === '(') {
      return this.#nested(() => {
        this.#at++
        const inner = this.#alternatives()
        this.#expect(')')
        return `(?:${inner})`
      })
    }
    if (char === '[') return String(this.#class())
    if (char === '.') {
      this.#at++
      return String(ANY_BUT_LINE_END)
    }
    if (char === '\\') {
      const escape = this.#escape()
      return typeof escape === 'number' ? literal(escape) : String(escape)
    }
    if (QUANTIFIERS.has(char) || char === ']' || COUNTED.test(this.#text.slice(this.#at, this.#at + 24)))
      throw new Untranslatable()
    return literal(this.#character())
  }

  /** Parses from `[` to `]`. */
  #class(): CharSet {
    return this.#nested(() => {
      this.#expect('[')
      const isNegative = this.#peek() === '^'
      if (isNegative) this.#at++
      const sets: CharSet[] = []
      const ranges: Range[] = []
      let subtracted: CharSet | undefined
      while (this.#peek() !== ']') {
        if (this.#text.startsWith('-[', this.#at)) {
          this.#at++
          subtracted = this.#class()
          break
        }
        this.#member(sets, ranges)
      }
      this.#expect(']')
      if (sets.length === 0 && ranges.length === 0) throw new Untranslatable()
      const positive = CharSet.union([CharSet.ofRanges(ranges), ...sets])
      const set = isNegative ? complementOf(positive) : positive
      return subtracted === undefined ? set : defined(set.without(subtracted))
    })
  }

  #member(sets: CharSet[], ranges: Range[]): void {
    const from = this.#inClass()
    if (typeof from !== 'number') {
      sets.push(from)
      return
    }
    const isRange = this.#peek() === '-' && !['', ']', '['].includes(this.#text[this.#at + 1] ?? '')
    if (!isRange) {
      ranges.push([from, from])
      return
    }
    this.#at++
    const to = this.#inClass()
    if (typeof to !== 'number' || to < from) throw new Untranslatable()
    ranges.push([from, to])
  }

  #inClass(): number | CharSet {
    if (this.#peek() === '\\') return this.#escape()
    if (this.#peek() === '[') throw new Untranslatable()
    return this.#character()
  }

  /** A character, or the set of a multi-character escape. */
  #escape(): number | CharSet {
    this.#expect('\\')
    const code = this.#character()
    const char = String.fromCodePoint(code)
    if (char === 'p' || char === 'P') return this.#property(char === 'P')
    const set = ESCAPES.get(char.toLowerCase())
    if (set !== undefined) return ESCAPES.has(char) ? set : complementOf(set)
    const single = SINGLE.get(char)
    // XML Schema allows escapes only for its own syntax. Escapes of other punctuation are a common, unambiguous mistake.
    if (single === undefined && /[a-zA-Z0-9]/.test(char)) throw new Untranslatable()
    return single ?? code
  }

  #property(isNegative: boolean): CharSet {
    const name = /^\{([A-Za-z0-9-]{1,60})\}/.exec(this.#text.slice(this.#at, this.#at + 64))?.[1]
    if (name === undefined) throw new Untranslatable()
    this.#at += name.length + 2
    const block = name.startsWith('Is') ? blockNamed(name.slice(2)) : undefined
    if (block === undefined && !CATEGORY.test(name)) throw new Untranslatable()
    const set = block === undefined ? CharSet.ofCategory(name) : CharSet.ofRanges([block])
    return isNegative ? complementOf(set) : set
  }

  #peek(): string {
    return this.#text[this.#at] ?? ''
  }

  #character(): number {
    const code = this.#text.codePointAt(this.#at)
    if (code === undefined) throw new Untranslatable()
    this.#at += code > 0xffff ? 2 : 1
    return code
  }

  #expect(char: string): void {
    if (this.#peek() !== char) throw new Untranslatable()
    this.#at++
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > NESTING_MAX) throw new Untranslatable()
    const value = read()
    this.#depth--
    return value
  }
}

function complementOf(set: CharSet): CharSet {
  return defined(set.complement())
}

function defined(set: CharSet | undefined): CharSet {
  if (set === undefined) throw new Untranslatable()
  return set
}
