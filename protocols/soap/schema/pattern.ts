import { PATTERNS_SIZE_MAX } from '../../../lib/base/limits/descriptions.ts'
import { ecmaPattern } from '../../pattern/ecma-pattern.ts'
import { type LinearPattern, PatternRefused } from '../../pattern/linear-pattern.ts'
import type { Meter } from '../../pattern/meter.ts'
import { translatePattern } from './pattern-translation.ts'

/** The cost of compiling one unit of program size, in steps of a `Meter`. */
const COMPILE_STEPS = 1_000

/** The pattern facets of one derivation step. One of them must match the whole text. */
export interface XsdPattern {
  /** The patterns as in the schema, joined by `|`. */
  readonly source: string
  /** `source` as an ECMA-262 expression with the `u` flag, not anchored. */
  readonly expression: string
  /** @throws OutOfSteps */
  test(text: string, meter: Meter): boolean
}

/**
 * The patterns of one WSDL. While a WSDL is read, each pattern is compiled at once, and unsupported ones are listed. With a
 * snapshot, the list is known, and a pattern is compiled when a call first needs it.
 */
export class PatternBook {
  readonly #unchecked: Set<string>
  readonly #isKnown: boolean
  readonly #patterns = new Map<string, XsdPattern>()
  #size = 0
  #isFull = false

  /** @param unchecked the list from reading the WSDL; undefined while it is being read */
  constructor(unchecked?: readonly string[]) {
    this.#isKnown = unchecked !== undefined
    this.#unchecked = new Set(unchecked)
  }

  /** Sources of the unsupported patterns, which are not checked. */
  get unchecked(): readonly string[] {
    return [...this.#unchecked]
  }

  /** Returns the pattern, or why it cannot be checked, as a text that completes "The pattern …". */
  take(patterns: readonly string[]): XsdPattern | string {
    const source = patterns.join('|')
    const known = this.#patterns.get(source)
    if (known !== undefined) return known
    if (this.#isKnown && this.#unchecked.has(source)) return 'is not checked'
    const sources = patterns.map(translatePattern)
    const isTranslated = !sources.includes(undefined)
    const pattern = new Pattern(source, sources.join('|'))
    const refused = isTranslated ? this.#refusal(pattern) : 'is no pattern of XML Schema, or is nested too deeply'
    if (refused !== undefined) {
      this.#unchecked.add(source)
      return refused
    }
    this.#patterns.set(source, pattern)
    return pattern
  }

  #refusal(pattern: Pattern): string | undefined {
    if (this.#isKnown) return undefined
    try {
      // After the limit, no pattern is compiled, because measuring its size costs as much as using it.
      this.#size += this.#isFull ? 0 : pattern.compiled().size
      this.#isFull ||= this.#size > PATTERNS_SIZE_MAX
      return this.#isFull ? 'is one too many: all patterns of the WSDL together are too large' : undefined
    } catch (error) {
      if (error instanceof PatternRefused) return error.message
      throw error
    }
  }
}

class Pattern implements XsdPattern {
  readonly source: string
  readonly expression: string
  #compiled: LinearPattern | undefined

  constructor(source: string, expression: string) {
    this.source = source
    this.expression = expression
  }

  /** @throws PatternRefused */
  compiled(): LinearPattern {
    return (this.#compiled ??= ecmaPattern(`^(?:${this.expression})$`))
  }

  test(text: string, meter: Meter): boolean {
    if (this.#compiled === undefined) meter.spend(this.compiled().size * COMPILE_STEPS)
    return this.compiled().test(text, meter)
  }
}
