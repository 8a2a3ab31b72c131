import { ecmaPattern } from './ecma-pattern.ts'
import { PatternRefused } from './linear-pattern.ts'

/** The patterns of one description. Each is compiled once, and their total size is limited. */
export class PatternBudget {
  readonly #sizeMax: number
  readonly #problems = new Map<string, string | undefined>()
  #size = 0

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** Why an ECMA-262 pattern is not supported, as a text that completes "The pattern …"; undefined if it is supported. */
  problemOf(pattern: string): string | undefined {
    if (!this.#problems.has(pattern)) this.#problems.set(pattern, this.#lookedAt(pattern))
    return this.#problems.get(pattern)
  }

  #lookedAt(pattern: string): string | undefined {
    try {
      this.#size += ecmaPattern(pattern).size
    } catch (error) {
      if (error instanceof PatternRefused) return error.message
      throw error
    }
    if (this.#size <= this.#sizeMax) return undefined
    return `is one too many: the patterns of a description may have a total size of ${this.#sizeMax}`
  }
}
