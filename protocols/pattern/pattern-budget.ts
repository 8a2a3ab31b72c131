import { ecmaPattern } from './ecma-pattern.ts'
import { PatternRefused } from './linear-pattern.ts'

/** The patterns of one description: each is looked at once, and all together are bounded. */
export class PatternBudget {
  readonly #sizeMax: number
  readonly #problems = new Map<string, string | undefined>()
  #size = 0

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** Why a pattern of ECMA-262 cannot be used, as the end of a sentence "The pattern …"; undefined where it can be. */
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
    return `is one too many: together the patterns of a description may have a size of ${this.#sizeMax}`
  }
}
